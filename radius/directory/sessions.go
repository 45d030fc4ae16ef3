package directory

import (
	"slices"
	"sync"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/radius"
)

// Sessions knows which sessions are alive. It answers from memory, because a socket waits for it. Safe for concurrent
// use.
type Sessions interface {
	// Others counts the live sessions of a subscription on other devices than this one. A device that signs in again is
	// no second session (docs/rules/access-radius.md#what-a-subscription-decides).
	Others(subscription id.Subscription, mac radius.MAC) int
	// Replace is told that a session beyond the limit was let in, so the oldest of the others has to end.
	Replace(subscription id.Subscription, nas id.Device, mac radius.MAC)
}

// LiveSessions is a Sessions that is told by accounting and forgets everything at a stop of the program. It ends no
// session. The zero value is ready.
type LiveSessions struct {
	mu   sync.Mutex
	live map[id.Subscription][]live
}

// live is one session.
type live struct {
	nas     id.Device
	session string
	mac     radius.MAC
}

// Began notes a session; noted again it is still one.
func (l *LiveSessions) Began(subscription id.Subscription, nas id.Device, session string, mac radius.MAC) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.live == nil {
		l.live = map[id.Subscription][]live{}
	}
	if one := (live{nas, session, mac}); !slices.Contains(l.live[subscription], one) {
		l.live[subscription] = append(l.live[subscription], one)
	}
}

// Ended removes a session; one that is not known is no fault.
func (l *LiveSessions) Ended(subscription id.Subscription, nas id.Device, session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := slices.DeleteFunc(l.live[subscription], func(s live) bool { return s.nas == nas && s.session == session })
	if len(left) == 0 {
		delete(l.live, subscription)
		return
	}
	l.live[subscription] = left
}

// Others implements Sessions.
func (l *LiveSessions) Others(subscription id.Subscription, mac radius.MAC) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, s := range l.live[subscription] {
		if s.mac != mac || mac == (radius.MAC{}) {
			n++
		}
	}
	return n
}

// Replace implements Sessions and does nothing: ending a session takes a call to a router.
func (l *LiveSessions) Replace(id.Subscription, id.Device, radius.MAC) {}
