package claimlist

import "sync"

// Registry has the claims of this process. A claim that holds a lock, or may come to hold one, has the token of the attempt
// that made it. A claim that waits between two attempts has no token, and the lock's key instead: only one caller of a
// process contends for a lock.
type Registry[C comparable] struct {
	mu     sync.Mutex
	tokens map[string]C
	queued map[string]C
}

// NewRegistry returns an empty registry.
func NewRegistry[C comparable]() *Registry[C] {
	return &Registry[C]{tokens: make(map[string]C), queued: make(map[string]C)}
}

// Remember records the claim that a token's calls may have made.
func (r *Registry[C]) Remember(token string, c C) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tokens[token] = c
}

// Forget drops a token: its calls have left nothing behind, or a claim that waits.
func (r *Registry[C]) Forget(token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.tokens, token)
}

// Of returns the claim of a token; zero if there is none.
func (r *Registry[C]) Of(token string) C {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tokens[token]
}

// Queued returns the claim that waits for the lock; zero if none does.
func (r *Registry[C]) Queued(key string) C {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.queued[key]
}

// Queue records that a claim waits for the lock. It returns the claim that it replaces: zero, the same, or one that the
// caller has to end, since nobody would look for it and it would stand in front of the new one.
func (r *Registry[C]) Queue(key string, c C) (former C) {
	r.mu.Lock()
	defer r.mu.Unlock()
	former = r.queued[key]
	r.queued[key] = c
	return former
}

// Unqueue records that a claim waits no more.
func (r *Registry[C]) Unqueue(key string, c C) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.queued[key] == c {
		delete(r.queued, key)
	}
}

// All returns the claims that have a token and those that wait.
func (r *Registry[C]) All() (made, queued []C) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.tokens {
		made = append(made, c)
	}
	for _, c := range r.queued {
		queued = append(queued, c)
	}
	return made, queued
}
