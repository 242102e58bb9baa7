// Package servers says which servers a command talks to, by flags or by a group of a configuration file, and connects
// to them. It checks everything before it connects, and no error holds a password or the text of a URL, which may hold
// one.
//
// Redis servers are [Node]s, clients of go-redis. The systems beside Redis are an [Other] each, for one question
// after the other, or a [System], which a scanner.Scanner asks again and again. [LockFlags] take locks on either.
package servers
