package paymentsjobs

import (
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// Pauses of a bill manager that is left alone: the first one, which doubles with each, and the longest.
const (
	billsRest  = 15 * time.Second
	billsRests = 10 * time.Minute
)

// rest is a growing pause after runs in which the provider let the platform make no call: each try is two events for
// each bill. A new key is tried at once, and so is everything by a program that has just begun. Safe for concurrent
// use.
type rest struct {
	mu    sync.Mutex
	key   secrets.Text
	until time.Time
	pause time.Duration // the last one; 0 = none
}

// holds reports whether the bill manager is left alone with a key.
func (r *rest) holds(key secrets.Text, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return key == r.key && now.Before(r.until)
}

// after follows a run, which the provider shut out or not.
func (r *rest) after(key secrets.Text, now time.Time, shut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !shut || key != r.key {
		r.key, r.until, r.pause = key, time.Time{}, 0
	}
	if shut {
		r.pause = min(max(2*r.pause, billsRest), billsRests)
		r.until = now.Add(r.pause)
	}
}
