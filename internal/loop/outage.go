package loop

import (
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// outageTold is the time between two lines about an outage that goes on.
const outageTold = time.Minute

// Outage is the time in which something is away that loops need. It keeps their lines in the log few, however many of
// them try, and lets all come back as soon as one of them has. The zero value: nothing is away. Safe for concurrent
// use.
type Outage struct {
	mu   sync.Mutex
	over chan struct{} // nil = nothing is away
	told time.Time
}

// Failed notes a failure. tell is true for the first one of an outage, and once a minute after that. over is closed by
// Ended.
func (o *Outage) Failed() (tell bool, over <-chan struct{}) {
	now := clock.Steady(clock.System()).Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	tell = o.over == nil || now.Sub(o.told) >= outageTold
	if o.over == nil {
		o.over = make(chan struct{})
	}
	if tell {
		o.told = now
	}
	return tell, o.over
}

// Over is closed by Ended; nil while nothing is away.
func (o *Outage) Over() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.over
}

// Ended notes a success, and reports whether that ends an outage.
func (o *Outage) Ended() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over == nil {
		return false
	}
	close(o.over)
	o.over = nil
	return true
}
