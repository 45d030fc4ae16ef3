package directory

import (
	"slices"
	"sync"
	"time"

	"layeh.com/radius/rfc2866"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/radius"
)

// comebackWithin is for how long after the end of its session a guest may sign in by its MAC. It is short, because
// anybody near can copy a MAC.
const comebackWithin = 10 * time.Minute

// guest is a device that has proven the password of a subscription at a hotspot, and may come back there by its MAC
// (docs/rules/access-radius.md#coming-back-by-mac). The lock of the book guards what has no other remark.
type guest struct {
	service *service           // never changes
	proven  *radius.Credential // never changes
	byMAC   *radius.Credential // that leads sign-ins by its MAC here; never changes
	nas     id.Device          // never changes
	session string             // Acct-Session-Id of its last sign-in; "" = the router did not tell
	since   time.Time          // by pace, when that was, or when its session was reported last
	back    bool               // the last sign-in was by its MAC
	fresh   bool               // nothing is known of the session of the last sign-in
	ends    time.Time          // when that session ends by its Session-Timeout; zero = never
	over    time.Time          // by pace, when the last session ended; zero = it goes on, as far as is known
}

// guestBook has the guests: of each device the subscription whose password was proven there last, and of a subscription
// the latest devices, as many as may be online at once and at most maxOwn. Its lock is held for short moments only,
// because sockets wait for it, and is taken after the directory's. Safe for concurrent use.
type guestBook struct {
	mu       sync.Mutex
	of       map[device]*guest
	restarts map[id.Device][]time.Time // by pace, when routers restarted, in order: sessions from before are over
}

// How many restarts of a router are known. Of those within a gap the first and the last are: of three in a row the
// first and the third are at least a gap apart. Together that is longer than comebackWithin: a session that was ended
// by an older restart is known to have ended too long ago.
const (
	maxRestarts = 32
	restartGap  = time.Minute
)

// findGuest gives the credential of a device that comes back by its MAC; nil when it may not, or has a voucher that
// gives more. The caller holds the lock.
func (d *Directory) findGuest(nas *radius.NAS, r *radius.Request) *radius.Credential {
	if !r.MACLogin || r.Service != radius.ServiceHotspot {
		return nil
	}
	key := device{nas.Org, r.MAC}
	g := d.guests.returning(key, nas.ID, r.At, d.pace.Now())
	if g == nil || g.proven != g.service.credential || g.service.proven != g.service.passwordRef ||
		d.heldMore(key, g.service, r.At) {
		return nil
	}
	return g.byMAC
}

// returning finds the guest that may come back to a router at an instant, which now is by pace.
func (b *guestBook) returning(key device, nas id.Device, at, now time.Time) *guest {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.of[key]
	if g == nil || g.nas != nas {
		return nil
	}
	if over := b.ended(g, at, now); !over.IsZero() && now.Sub(over) < comebackWithin {
		return g
	}
	return nil
}

// ended is when the last session of a guest ended, by pace, as far as is known at an instant, which now is by pace;
// zero = it goes on. Nothing ends one of which nothing is known. The caller holds the lock.
func (b *guestBook) ended(g *guest, at, now time.Time) time.Time {
	if g.fresh || !g.over.IsZero() {
		return g.over
	}
	over := b.restartedAfter(g.nas, g.since)
	if late := at.Sub(g.ends) + time.Second; !g.ends.IsZero() && late >= 0 { // routers count whole seconds
		if timedOut := now.Add(-late); over.IsZero() || timedOut.Before(over) {
			return timedOut
		}
	}
	return over
}

// restartedAfter is the first restart of a router after an instant, both by pace; zero = none. The caller holds the
// lock.
func (b *guestBook) restartedAfter(nas id.Device, since time.Time) time.Time {
	for _, at := range b.restarts[nas] {
		if at.After(since) {
			return at
		}
	}
	return time.Time{}
}

// restarted notes that a router has restarted at an instant by pace. The caller holds the lock.
func (b *guestBook) restarted(nas id.Device, at time.Time) {
	list := b.restarts[nas]
	n, _ := slices.BinarySearchFunc(list, at, time.Time.Compare)
	list = slices.Insert(list, n, at)
	for i := min(n+1, len(list)-2); i > 0 && i >= n-1; i-- {
		if list[i+1].Sub(list[i-1]) < restartGap {
			list = slices.Delete(list, i, i+1)
		}
	}
	b.restarts[nas] = list[max(0, len(list)-maxRestarts):]
}

// cameBy is the subscription for which a device came back by its MAC last; nil = none.
func (b *guestBook) cameBy(key device) *service {
	b.mu.Lock()
	defer b.mu.Unlock()
	if g := b.of[key]; g != nil && g.back {
		return g.service
	}
	return nil
}

// guestOf is the guest that a credential brought back; nil = none.
func guestOf(c *radius.Credential) *guest {
	g, _ := c.Subject.(*guest)
	return g
}

// welcome notes an accepted sign-in at a hotspot. One by a MAC begins no new time in which to come back: only the end
// of a session does.
func (d *Directory) welcome(q radius.Question, s *service, v *verdict) {
	r := q.Request
	if r.Service != radius.ServiceHotspot || r.MAC == (radius.MAC{}) {
		return
	}
	b := &d.guests
	b.mu.Lock()
	defer b.mu.Unlock()
	key, now := device{q.NAS.Org, r.MAC}, d.pace.Now()
	g := guestOf(q.Credential)
	switch {
	case g != nil && b.of[key] != g: // somebody proved a password meanwhile
		return
	case g != nil:
		g.back, g.over = true, b.ended(g, r.At, now)
	case q.Credential.ByMAC:
		return
	default:
		b.forget(key)
		g = &guest{service: s, proven: q.Credential, nas: q.NAS.ID}
		g.byMAC = &radius.Credential{ByMAC: true, Subject: g}
		b.of[key] = g
	}
	g.session, g.since, g.fresh, g.ends = string(r.SessionID), now, true, v.ends
	s.guests = append(slices.DeleteFunc(s.guests, func(mac radius.MAC) bool { return mac == r.MAC }), r.MAC)
	for len(s.guests) > min(maxOwn, max(1, v.limit)) {
		b.forget(device{s.org, s.guests[0]})
	}
}

// forget makes a device the guest of no subscription. The caller holds the lock.
func (b *guestBook) forget(key device) {
	if g := b.of[key]; g != nil {
		delete(b.of, key)
		g.service.guests = slices.DeleteFunc(g.service.guests, func(mac radius.MAC) bool { return mac == key.mac })
	}
}

// leave is forget for who does not hold the lock.
func (b *guestBook) leave(key device) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget(key)
}

// takenAway makes a device no guest of a subscription any more.
func (b *guestBook) takenAway(key device, s *service) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if g := b.of[key]; g != nil && g.service == s {
		b.forget(key)
	}
}

// part makes a subscription lose its guests.
func (b *guestBook) part(s *service) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(s.guests) > 0 {
		b.forget(device{s.org, s.guests[0]})
	}
}

// sessionOf finds the guest whose last sign-in began a session; nil = none. The caller holds the lock.
func (b *guestBook) sessionOf(key device, nas id.Device, session string) *guest {
	g := b.of[key]
	if g == nil || g.nas != nas || g.session != "" && g.session != session {
		return nil
	}
	return g
}

// heardGuest takes over what a report tells about the session of a guest. Who signs out stays out.
func (d *Directory) heardGuest(r telemetry.Report) {
	key := device{r.Org, parsedMAC(r.MAC)}
	at := d.pace.Now().Add(-max(0, d.cfg.Clock.Now().Sub(r.At)) - r.Late)
	b := &d.guests
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.sessionOf(key, r.Device, r.Session)
	switch {
	case r.Kind == telemetry.On || r.Kind == telemetry.Off:
		b.restarted(r.Device, at)
	case g == nil:
	case r.Kind == telemetry.Stop && r.Cause == uint32(rfc2866.AcctTerminateCause_Value_UserRequest):
		b.forget(key)
	case r.Kind == telemetry.Stop:
		g.fresh, g.over = false, at
	case r.Kind == telemetry.Start || r.Kind == telemetry.Interim:
		if g.fresh {
			g.fresh, g.over = false, time.Time{}
		}
		if at.After(g.since) { // a restart from before has not ended it
			g.since = at
		}
	}
}

// PutOff is told that the platform is about to end a session, whose device may ask to come back before the router
// reports the end, or where that report is lost. A list of a router may tell no Acct-Session-Id; then it is the last
// session of the device there.
func (d *Directory) PutOff(s telemetry.Session) {
	b := &d.guests
	b.mu.Lock()
	defer b.mu.Unlock()
	key := device{s.OrgID, parsedMAC(s.MAC)}
	g := b.of[key]
	if g != nil && g.nas == s.DeviceID && (s.SessionKey == "" || b.sessionOf(key, s.DeviceID, s.SessionKey) != nil) {
		g.fresh, g.over = false, d.pace.Now()
	}
}

// MadeWay is told which sessions have to end because other devices of their customers have the place. Their devices
// stay out, whichever program ends them, and before anything is heard of that.
func (d *Directory) MadeWay(sessions []telemetry.LiveSession) {
	b := &d.guests
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range sessions {
		if key := (device{s.OrgID, parsedMAC(s.MAC)}); b.sessionOf(key, s.DeviceID, s.SessionKey) != nil {
			b.forget(key)
		}
	}
}
