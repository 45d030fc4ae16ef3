package directory

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/radius"
)

// Bounds of what is remembered about tried passwords. What is beyond is forgotten.
const (
	maxOwn       = 8      // devices of an account that have proven its password
	maxTried     = 20_000 // passwords, of which an organization has its share
	leastTried   = 100    // passwords of an organization, however many the others have
	maxTriers    = 100    // devices of a password
	mostOfStrays = 2 * allTries
)

// When a password was tried last so long ago, every try is forgiven. Such passwords are looked for as often.
const triedFor = 2 * deviceTries * deviceForgive

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
	mu     sync.Mutex
	wrong  map[id.Organization]guesses[id.Secret]
	room   fair.Room // of all passwords
	looked time.Time // for those whose tries are all forgiven
	// macs counts by router. Lines without a MAC are left out, because many customers may share one.
	macs guesses[id.Device]
}

// newTrials makes an empty count.
func newTrials() *trials {
	return &trials{
		wrong: map[id.Organization]guesses[id.Secret]{}, macs: guesses[id.Device]{},
		room: fair.Room{Capacity: maxTried},
	}
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
	r, at := q.Request, d.pace.Now()
	device := cmp.Or(r.MAC.String(), string(r.CallingStation))
	t := d.passwords
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.slowed(s.org, password, device, at) || t.sprays(q.NAS.ID, r.MAC, at):
		known := slices.Contains(macs, r.MAC) || d.cfg.Sessions != nil && d.cfg.Sessions.Has(s.id, r.MAC.String())
		return !known
	case q.Outcome == radius.WrongPassword:
		t.add(s.org, password, device, at)
		if r.MAC != (radius.MAC{}) {
			t.macs.add(q.NAS.ID, device, at, macForgive, maxGuessers)
		}
	case device != "" && !s.owns(r):
		s.adopt(r)
	}
	return false
}

// slowed reports whether a device that is not known has to wait. Somebody may try with a new MAC each time, so there is
// a bound for all of them together. The caller holds the lock.
func (t *trials) slowed(org id.Organization, password id.Secret, device string, at time.Time) bool {
	own := t.wrong[org]
	g := own[password]
	return g != nil && (own.slowed(password, device, at) || g.all.now(at, allForgive) > mostOfStrays-1)
}

// add counts a wrong password. When the organization may have no more of them, the least tried one of its own makes
// room, never one of others. The caller holds the lock.
func (t *trials) add(org id.Organization, password id.Secret, device string, at time.Time) {
	t.clear(at)
	own := t.wrong[org]
	if own == nil {
		own = guesses[id.Secret]{}
		t.wrong[org] = own
	}
	if own[password] == nil && !t.room.Take(org, 1) {
		if len(own) >= leastTried {
			delete(own, own.least(at))
		} else {
			t.room.Hold(org, 1)
		}
	}
	own.add(password, device, at, deviceForgive, maxTriers)
}

// clear forgets passwords of which every try is forgiven, from time to time. The caller holds the lock.
func (t *trials) clear(at time.Time) {
	if gone := at.Sub(t.looked); gone >= 0 && gone < triedFor {
		return
	}
	t.looked = at
	for org, own := range t.wrong {
		for password, g := range own {
			if at.Sub(g.all.at) >= triedFor {
				delete(own, password)
				t.room.Give(org, 1)
			}
		}
		if len(own) == 0 {
			delete(t.wrong, org)
		}
	}
}

// looks is how many are compared to find one that was tried little: a few that the map gives by chance, since all of
// them would take too long for a packet.
const looks = 8

// least compares a few and gives the one at which least was tried. It is never the one at which most was tried.
func (g guesses[K]) least(at time.Time) (least K) {
	fewest, left := math.Inf(1), looks
	for one, target := range g {
		if n := target.all.now(at, allForgive); n < fewest {
			least, fewest = one, n
		}
		if left--; left == 0 {
			break
		}
	}
	return least
}

// sprays reports whether a MAC has tried so many wrong passwords at a router, of whatever accounts, that it has to
// wait. The caller holds the lock.
func (t *trials) sprays(nas id.Device, mac radius.MAC, at time.Time) bool {
	g := t.macs[nas]
	return g != nil && g.devices[mac.String()].now(at, macForgive) > macTries-1
}
