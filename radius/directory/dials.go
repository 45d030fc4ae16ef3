package directory

import (
	"cmp"
	"hash/maphash"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/radius"
)

const (
	// dialPatience is how soon a device dials again that got an accept and no session. One that does not is online,
	// whatever becomes of the reports.
	dialPatience = 2 * time.Minute
	// maxDials is the number of accepted sign-ins whose sessions are awaited, shared as maxWaiting is. Of further ones
	// nothing is told: neither that they were in vain, nor that they prove a line.
	maxDials = 40_000
)

// caller is a device of a subscription or a voucher. Devices that tell no calling station are one.
type caller struct {
	subscription id.Subscription
	station      uint64 // hash
}

// dial is a sign-in that was accepted, and whose session no report has told about yet.
type dial struct {
	org        id.Organization
	subscriber id.Subscriber // zero = of a voucher
	router     id.Device
	session    uint64 // hash of Acct-Session-Id; 0 = the router did not tell
	at         time.Time
	vain       bool // the one before came to nothing
}

// dialled notes a sign-in that was accepted.
func (d *Directory) dialled(q radius.Question, who id.Subscriber, subscription id.Subscription) {
	r, t := q.Request, d.cfg.Refusals
	one := dial{org: q.NAS.Org, subscriber: who, router: q.NAS.ID, at: r.At}
	if len(r.SessionID) > 0 {
		one.session = maphash.Bytes(t.seed, r.SessionID)
	}
	from := r.CallingStation
	if r.MAC != (radius.MAC{}) {
		from = r.MAC[:]
	}
	t.accepted(caller{subscription, maphash.Bytes(t.seed, from)}, one)
}

// began notes that a session was reported.
func (d *Directory) began(r telemetry.Report) {
	holder, known := d.Holder(r.Org, r.Class, r.User, r.At)
	if !known {
		return
	}
	t := d.cfg.Refusals
	from := []byte(r.Calling)
	if mac := parsedMAC(cmp.Or(r.MAC, r.Calling)); mac != (radius.MAC{}) {
		from = mac[:]
	}
	t.began(caller{holder.SubscriptionID, maphash.Bytes(t.seed, from)})
}

// accepted remembers a sign-in until its session is reported. Where the device got in a moment ago, too, and no session
// was reported since, the former one came to nothing. A repeat of the request is the same sign-in.
func (r *Refusals) accepted(who caller, d dial) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, waits := r.dials[who]
	if waits && r.settle(who, before, d.at) {
		waits = false
	}
	switch {
	case waits && d.session != 0 && before.session == d.session && before.router == d.router:
		return
	case waits:
		r.inVain(who, before, d.at)
		d.vain = true
	case !r.dialRoom.Take(d.org, 1):
		return
	}
	r.dials[who] = d
}

// began takes the sign-in of a session that was reported: its router has a line now.
func (r *Refusals) began(who caller) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d, waits := r.dials[who]
	if !waits || r.settle(who, d, r.clock.Now()) {
		return
	}
	r.forget(who, d)
	r.note(d.org, d.router, r.clock.Now())
}

// inVain counts a sign-in that no session followed: of the customer, at its own instant, because a session that is
// reported late began after it; and of the router, where all of these are looked for. The lock is held.
func (r *Refusals) inVain(who caller, d dial, now time.Time) {
	one := telemetry.Refusal{
		OrgID: d.org, DeviceID: d.router, Code: string(CodeNoSession), FirstAt: d.at, At: now, Count: 1,
	}
	r.add(one)
	if !d.subscriber.IsZero() {
		one.SubscriberID, one.SubscriptionID, one.At = d.subscriber, who.subscription, d.at
		r.add(one)
	}
}

// settle forgets a sign-in whose session is awaited no more, and reports whether it is. Its device did not dial again,
// so it has a line; unless it had dialled in vain before and has given up, or the clock was moved meanwhile. The lock
// is held.
func (r *Refusals) settle(who caller, d dial, now time.Time) bool {
	age := now.Sub(d.at)
	if age.Abs() < dialPatience {
		return false
	}
	r.forget(who, d)
	if !d.vain && age >= dialPatience && age < dialPatience+letInEvery {
		r.note(d.org, d.router, now)
	}
	return true
}

// settleAll settles all sign-ins. The lock is held.
func (r *Refusals) settleAll() {
	if len(r.dials) == 0 {
		return
	}
	now := r.clock.Now()
	for who, d := range r.dials {
		r.settle(who, d, now)
	}
}

// forget forgets a sign-in. The lock is held.
func (r *Refusals) forget(who caller, d dial) {
	delete(r.dials, who)
	r.dialRoom.Give(d.org, 1)
}

// note notes that a router has a line to us, whatever else of it is heard. The lock is held.
func (r *Refusals) note(org id.Organization, router id.Device, at time.Time) {
	if last, noted := r.letIn[router]; noted && at.Sub(last).Abs() < letInEvery {
		return
	}
	r.letIn[router] = at
	r.add(telemetry.Refusal{OrgID: org, DeviceID: router, Code: telemetry.Accepted, FirstAt: at, At: at, Count: 1})
}
