// Spec is the algorithm of package lock as small models, and what explores every state they can reach: an executable
// specification. SPEC.md says in one page what the models contain, what must hold in each state, and what was found.
//
// The tests explore what fits into seconds. The program explores the models at their larger bounds and prints a table
// of what it saw; then, for each rule, how soon a violation is found without it. It exits with 1 where something was
// found that must not be, or not found that must be.
//
//	go run ./lock/proof/spec [-quick] [-model name] [-limit states] [-trace name]
//
// The models are in packages under internal, each with its cases and with the test that compares it with the code:
//
//   - locks has the models of one lock;
//   - nodes has those that say which nodes vote;
//   - constructs has those of what is made of locks;
//   - compare is the code to which the tests of these three compare their models;
//   - attempt has the words that the models share;
//   - explore visits the states, and knows no model.
//
// No model needs another package than the last two. Each has rules, and a field for each rule that switches it off. With
// all rules on, nothing is found; with any of them off, something must be.
package main
