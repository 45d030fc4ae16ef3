package accesscases

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// aside is work that failed. It is tried again after a pause that grows with each failure, and holds up nothing else.
type aside struct {
	pause loop.Backoff
	waits bool
	until time.Time // by the steady clock
}

// put begins a pause.
func (a *aside) put(now time.Time) {
	a.pause.Min, a.pause.Max = meterMinPause, meterMaxPause
	a.waits, a.until = true, now.Add(a.pause.Next())
}

// over ends the pause, and reports true, when its time has come.
func (a *aside) over(now time.Time) bool {
	if !a.waits || now.Before(a.until) {
		return false
	}
	a.waits = false
	return true
}

// tried notes how the count of a subscription ended. One that failed for a reason that may pass is set aside.
func (m *Meter) tried(line meterLine, err error) {
	s := line.subject.SubscriptionID
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil || !passes(err) {
		delete(m.aside, s)
		return
	}
	if m.aside[s] == nil {
		m.aside[s] = &aside{}
	}
	m.aside[s].put(m.steady.Now())
}

// takeBack wants what was set aside and whose pause is over.
func (m *Meter) takeBack() {
	now := m.steady.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.check = m.checks.over(now) || m.check
	for s, a := range m.aside {
		if !a.over(now) {
			continue
		}
		if line := m.lines[s]; line != nil {
			m.want(line)
		} else {
			delete(m.aside, s)
		}
	}
}

// nextAgain is the time until the first pause of what was set aside is over, if there is any.
func (m *Meter) nextAgain() (wait time.Duration, some bool) {
	now := m.steady.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	look := func(a *aside) {
		if left := a.until.Sub(now); a.waits && (!some || left < wait) {
			wait, some = left, true
		}
	}
	look(&m.checks)
	for _, a := range m.aside {
		look(a)
	}
	return wait, some
}

// passes reports whether a command that failed may succeed later.
func passes(err error) bool {
	switch failure.KindOf(err) {
	case failure.Malformed, failure.Invalid, failure.Denied, failure.NotFound:
		return false
	default:
		return true
	}
}

// outage reports whether something failed because the database or the log is away, so that all else would fail, too.
func outage(err error) bool {
	return err != nil && (failure.KindOf(err) == failure.Unavailable || postgres.Away(err))
}
