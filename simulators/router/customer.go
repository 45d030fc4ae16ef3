package router

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// Pauses of a device that is offline, by the simulator's clock. After each refusal in a row the pause doubles.
const (
	redialAfter = time.Second
	redialMax   = 30 * time.Second
)

// customer is a device that is plugged in. Guarded by the lock of the router.
type customer struct {
	handset.Customer

	on      bool
	cookie  bool // it dials only while the hotspot has its cookie
	page    bool // it is at the page of its hotspot, where nobody types: the hotspot tries its MAC alone
	busy    bool // a sign-in is under way
	row     *row // in the active list, or in ip/hotspot/host; nil = offline
	refused int  // sign-ins in a row that failed
	next    time.Time
	last    handset.Result
	fault   string // why the router did not take the last sign-in
}

// offline makes a customer dial again soon.
func (c *customer) offline(now time.Time) {
	c.row = nil
	c.next = now.Add(min(redialAfter<<min(c.refused, 10), redialMax))
}

// ended is offline after a session. A password was typed once at a hotspot, and is not typed again by itself.
func (c *customer) ended(now time.Time) {
	c.page = c.Service == handset.Hotspot && c.Method != handset.MACLogin && !c.cookie
	c.offline(now)
}

// waits reports whether a customer dials when its time has come.
func (r *Router) waits(c *customer) bool {
	return c.on && !c.busy && c.row == nil && !(c.page && !r.hasLogin(c.Server, "mac"))
}

// hasToDial reports whether a customer has to dial.
func (r *Router) hasToDial(c *customer, now time.Time) bool { return r.waits(c) && !c.next.After(now) }

// signsIn is how a customer signs in: as somebody types, or at the page by its MAC.
func (c *customer) signsIn() handset.Customer {
	out := c.Customer
	if c.page {
		out.Method, out.Name, out.Password = handset.MACLogin, "", ""
	}
	return out
}

// CustomerState is a device that is plugged in, at one moment.
type CustomerState struct {
	User    string `json:"user"` // by which it is found here
	Service string `json:"service"`
	MAC     string `json:"mac"`
	On      bool   `json:"on"`
	// State is "off", "online", "signing in" or "offline", which dials again at NextAt.
	State string `json:"state"`
	// Page says that nobody has typed anything since the last session: only the MAC is tried, where the hotspot does.
	Page bool `json:"page"`
	// Outcome is that of the last sign-in; empty when the router did not take it, see Message.
	Outcome handset.Outcome `json:"outcome"`
	Message string          `json:"message"`
	Refused int             `json:"refused"` // sign-ins in a row that failed
	NextAt  *time.Time      `json:"nextAt,omitempty"`
	RADIUS  bool            `json:"radius"` // the session was made by RADIUS
	Address string          `json:"address,omitempty"`
	// Session is that of RADIUS, with its rate, address list and bytes.
	Session *handset.Session `json:"session,omitempty"`
}

// SwitchOn plugs a customer's device in, which dials at once and again whenever its session has ended: after a second,
// and with growing pauses while it is refused. At a hotspot somebody types until the device is online, and no more: a
// hotspot with login-by=mac tries its MAC from then on, another one leaves it at its page. A user who has a device
// already gets this one, and his session ends.
func (r *Router) SwitchOn(user string, c handset.Customer) error {
	if user == "" {
		return fmt.Errorf("a customer needs a name")
	}
	if c.Method != handset.MACLogin {
		c.Name = user
	}
	c.Service = cmp.Or(c.Service, handset.PPPoE)
	r.SwitchOff(user)
	r.lock()
	defer r.unlock()
	if c.MAC == "" {
		c.MAC = r.newMAC()
	}
	r.customers[user] = &customer{Customer: c, on: true, next: r.now()}
	r.stir()
	return nil
}

// SetCustomer switches a device that is plugged in off, which hangs up, or on, where somebody types at a hotspot. It
// reports whether there is one.
func (r *Router) SetCustomer(user string, on bool) bool {
	if !on {
		return r.SwitchOff(user)
	}
	r.lock()
	defer r.unlock()
	c := r.customers[user]
	if c != nil && !c.on {
		c.on, c.page, c.refused, c.next = true, false, 0, r.now()
		r.stir()
	}
	return c != nil
}

// SwitchOff switches a customer's device off, which hangs up. It reports whether there is one.
func (r *Router) SwitchOff(user string) bool {
	r.lock()
	defer r.unlock()
	c := r.customers[user]
	if c == nil {
		return false
	}
	c.on = false
	r.hangUpAs(c, handset.UserRequest)
	r.stir()
	return true
}

// hangUpAs ends the session of a customer, if there is one. The lock is held.
func (r *Router) hangUpAs(c *customer, why handset.Cause) {
	if c.row == nil {
		return
	}
	r.cause = why
	defer func() { r.cause = 0 }()
	for _, path := range []string{"ppp/active", "ip/hotspot/active", "ip/hotspot/host"} {
		if c.row != nil {
			r.drop(path, c.row)
		}
	}
}

// stir tells those who wait that a customer's state has changed. The lock is held.
func (r *Router) stir() {
	close(r.changed)
	r.changed = make(chan struct{})
	loop.Wake(r.dials)
}

// Customers gives the devices that are plugged in, by user.
func (r *Router) Customers() []CustomerState {
	r.lock()
	list := make([]CustomerState, 0, len(r.customers))
	sessions := map[string]string{}
	for _, user := range slices.Sorted(maps.Keys(r.customers)) {
		c := r.customers[user]
		shown := c.show(user)
		if !r.waits(c) {
			shown.NextAt = nil
		}
		list = append(list, shown)
		if c.row != nil {
			sessions[user] = c.row.session
		}
	}
	r.unlock()
	for i := range list {
		if s := sessions[list[i].User]; s != "" {
			if shown, ok := r.nas.Session(s); ok {
				list[i].Session = &shown
			}
		}
	}
	return list
}

// show is a customer at this moment, without the session of RADIUS. The lock is held.
func (c *customer) show(user string) CustomerState {
	out := CustomerState{
		User: user, Service: c.Service, MAC: c.MAC, On: c.on, Outcome: c.last.Outcome, Refused: c.refused,
		Message: cmp.Or(c.fault, c.last.Message), Page: c.page && c.row == nil,
	}
	switch {
	case c.row != nil:
		out.State, out.Address, out.RADIUS = "online", c.row.props["address"], c.row.session != ""
	case !c.on:
		out.State = "off"
	case c.busy:
		out.State = "signing in"
	default:
		next := c.next
		out.State, out.NextAt = "offline", &next
	}
	return out
}

// serveCustomers opens the ports for RADIUS and lets customers dial until ctx ends.
func (r *Router) serveCustomers(ctx context.Context) error {
	if r.nas != nil {
		if err := r.nas.Start(ctx); err != nil {
			return fmt.Errorf("router %s: %w", r.cfg.Name, err)
		}
	}
	return r.loops.Start(ctx, func(context.Context) error {
		r.loops.Go("customers dial", func(ctx context.Context) {
			for ctx.Err() == nil {
				loop.WaitUntil(ctx, r.dials, r.sim.clock, r.dialDue())
			}
		})
		return nil
	})
}

// dialDue lets all customers dial who have to, and gives the instant at which the next one has to.
func (r *Router) dialDue() time.Time {
	r.lock()
	r.dropGuests()
	now := r.now()
	next := now.Add(time.Hour)
	var list []*customer
	for _, user := range slices.Sorted(maps.Keys(r.customers)) {
		c := r.customers[user]
		switch {
		case r.hasToDial(c, now):
			c.busy = true
			list = append(list, c)
		case r.waits(c) && c.next.Before(next):
			next = c.next
		}
	}
	as := make([]handset.Customer, len(list))
	for i, c := range list {
		as[i] = c.signsIn()
	}
	r.unlock()
	for i, c := range list {
		if err := r.dial(as[i], func(got handset.Result, active *row) {
			r.dialled(c, got, active, "")
		}); err != nil {
			r.dialled(c, handset.Result{}, nil, err.Error())
		}
	}
	return next
}

// dialled takes the end of a customer's sign-in. A session that has ended meanwhile counts as one that was.
func (r *Router) dialled(c *customer, got handset.Result, active *row, fault string) {
	r.lock()
	defer r.unlock()
	c.busy, c.last, c.fault = false, got, fault
	c.refused++
	if got.Outcome == handset.Accepted {
		c.refused = 0
	}
	if active != nil && active.props["server"] != "" { // of a hotspot
		c.Server = active.props["server"]
	}
	switch {
	case active == nil && got.Outcome != handset.Accepted:
		c.offline(r.now())
	case active == nil || !r.present(active):
		c.ended(r.now())
	default:
		if c.row = active; !c.on {
			r.hangUpAs(c, handset.UserRequest)
		}
	}
	r.stir()
}

// present reports whether a session's row is in one of the lists. The lock is held.
func (r *Router) present(w *row) bool {
	return slices.ContainsFunc([]string{"ppp/active", "ip/hotspot/active", "ip/hotspot/host"},
		func(path string) bool { return r.tableOf(path).index(w) >= 0 })
}

// Idle waits until no customer has to dial, and no sign-in and no report is under way; it fails with ctx's error.
func (r *Router) Idle(ctx context.Context) error {
	for {
		r.lock()
		now, working, changed := r.now(), false, r.changed
		for _, c := range r.customers {
			working = working || c.busy || r.hasToDial(c, now)
		}
		r.unlock()
		if !working {
			if r.nas == nil {
				return nil
			}
			if err := r.nas.Idle(ctx); err != nil {
				return err
			}
			select {
			case <-changed:
				continue
			default:
				return nil
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for customers: %w", ctx.Err())
		}
	}
}
