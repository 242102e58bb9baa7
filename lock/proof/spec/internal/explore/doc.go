// Package explore visits every state that a model can reach, and finds a shortest way to one that violates an
// invariant. It knows no model.
package explore
