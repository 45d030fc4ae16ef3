package directory

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/radius"
)

// Bounds of what is remembered about tried passwords. What is beyond is forgotten.
const (
	maxOwn       = 8      // devices of an account that have proven its password
	maxTried     = 10_000 // passwords
	maxTriers    = 100    // devices of a password
	mostOfStrays = 2 * allTries
)

// Bounds of one MAC at one router over all accounts: so many tries, of which one is forgiven after each pause.
// Customers behind one MAC whose passwords are wrong for ever use up one try a minute each, so there is room for three
// of them.
const (
	macTries   = 30
	macForgive = 20 * time.Second
)

// trials counts wrong passwords of accounts, by the password that would be right, so that a new one begins with none,
// and by router and MAC. Its lock is held for short moments only, because sockets wait for it; whoever changes the own
// devices of a service holds it, too. Safe for concurrent use.
type trials struct {
	mu    sync.Mutex
	wrong guesses[id.Secret]
	// macs counts by router. Lines without a MAC are left out, because many customers may share one.
	macs guesses[id.Device]
}

// station is a device as its sign-ins name it.
type station struct {
	mac     radius.MAC
	calling string // the calling station, where it is no MAC
}

// of reports whether a request comes from the station. It allocates nothing.
func (s station) of(r *radius.Request) bool {
	return s.mac == r.MAC && (r.MAC != radius.MAC{} || s.calling == string(r.CallingStation))
}

// owns reports whether the device of a request has proven a password of the subscription.
func (s *service) owns(r *radius.Request) bool {
	own := s.own.Load()
	return own != nil && slices.ContainsFunc(*own, func(one station) bool { return one.of(r) })
}

// adopt remembers that the device of a request has proven the password. The caller holds the lock of trials.
func (s *service) adopt(r *radius.Request) {
	one, list := station{mac: r.MAC}, []station{}
	if r.MAC == (radius.MAC{}) {
		one.calling = string(r.CallingStation)
	}
	if own := s.own.Load(); own != nil {
		list = append(list, (*own)[max(0, len(*own)+1-maxOwn):]...)
	}
	list = append(list, one)
	s.own.Store(&list)
}

// tried takes over what came of a password, and reports whether the device has to wait, whether its password is right
// or wrong. Devices that have proven the password before, that are registered or that are online never wait. What is
// tried while a device waits is not counted, so waiting always helps.
func (d *Directory) tried(q radius.Question, s *service) bool {
	if q.Credential.ByMAC || q.Outcome != radius.Verified && q.Outcome != radius.WrongPassword {
		return false
	}
	if s.owns(q.Request) {
		return false
	}
	d.mu.RLock()
	password, macs := s.proven, s.macs
	d.mu.RUnlock()
	if password.IsZero() { // it cannot be proven before the vault has given it
		return false
	}
	r := q.Request
	device := cmp.Or(r.MAC.String(), string(r.CallingStation))
	t := &d.passwords
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.slowed(password, device, r.At) || t.sprays(q.NAS.ID, r):
		known := slices.Contains(macs, r.MAC) || d.cfg.Sessions != nil && d.cfg.Sessions.Has(s.id, r.MAC.String())
		return !known
	case q.Outcome == radius.WrongPassword:
		t.add(password, device, r.At)
		if r.MAC != (radius.MAC{}) {
			t.macs.add(q.NAS.ID, device, r.At, macForgive, maxGuessers)
		}
	case device != "" && !s.owns(r):
		s.adopt(r)
	}
	return false
}

// slowed reports whether a device that is not known has to wait. Somebody may try with a new MAC each time, so there is
// a bound for all of them together. The caller holds the lock.
func (t *trials) slowed(password id.Secret, device string, at time.Time) bool {
	g := t.wrong[password]
	return g != nil && (t.wrong.slowed(password, device, at) || g.all.now(at, allForgive) > mostOfStrays-1)
}

// add counts a wrong password. The caller holds the lock.
func (t *trials) add(password id.Secret, device string, at time.Time) {
	if _, known := t.wrong[password]; !known && len(t.wrong) >= maxTried {
		for other := range t.wrong {
			delete(t.wrong, other)
			break
		}
	}
	t.wrong.add(password, device, at, deviceForgive, maxTriers)
}

// sprays reports whether a MAC has tried so many wrong passwords at a router, of whatever accounts, that it has to
// wait. The caller holds the lock.
func (t *trials) sprays(nas id.Device, r *radius.Request) bool {
	g := t.macs[nas]
	return g != nil && g.devices[r.MAC.String()].now(r.At, macForgive) > macTries-1
}
