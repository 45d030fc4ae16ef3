package router

import (
	"fmt"
	"time"
)

// flow is the traffic of one row. Counters grow with the rates from the instant since.
type flow struct {
	rx, tx         uint64 // bytes
	rxRate, txRate uint64 // bytes a second from since on
	since          time.Time
	born           time.Time
	downs          uint64
}

// flowOf gives the stored traffic of a row, created at the first use.
func (r *Router) flowOf(w *row) *flow {
	f, ok := r.traffic[w]
	if !ok {
		f = &flow{since: r.now(), born: r.now()}
		r.traffic[w] = f
	}
	return f
}

// trafficOf gives the traffic of a row up to now, in whole seconds of its rates.
func (r *Router) trafficOf(w *row) flow {
	f := *r.flowOf(w)
	seconds := uint64(max(r.now().Sub(f.since), 0) / time.Second)
	f.rx += f.rxRate * seconds
	f.tx += f.txRate * seconds
	return f
}

// born records the creation time of a new row.
func (r *Router) born(w *row) { r.flowOf(w) }

// bornOf gives the creation time of a row.
func (r *Router) bornOf(w *row) time.Time { return r.flowOf(w).born }

// since gives the age of a row.
func (r *Router) since(w *row) time.Duration { return r.now().Sub(r.bornOf(w)) }

// AddTraffic adds bytes to an interface's counters and sets its rates, in bytes a second, from now on.
func (r *Router) AddTraffic(name string, rx, tx, rxRate, txRate uint64) error {
	r.lock()
	defer r.unlock()
	w := r.byName("interface", name)
	if w == nil {
		return fmt.Errorf("router %s has no interface %s", r.cfg.Name, name)
	}
	f := r.trafficOf(w)
	f.rx, f.tx, f.rxRate, f.txRate, f.since = f.rx+rx, f.tx+tx, rxRate, txRate, r.now()
	*r.flowOf(w) = f
	return nil
}
