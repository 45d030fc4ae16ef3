package routeros

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// Device is one router, spoken to over the protocol that it has. Safe for concurrent use; calls beyond
// Config.Connections wait.
type Device struct{ *link }

var _ Router = (*Device)(nil)

// request is one operation in terms that both protocols have.
type request struct {
	menu, command string
	id            string
	args          map[string]string
	where         map[string]string
	props         []string
}

// writes reports whether the request may change the router, so that it must not be repeated.
func (r request) writes() bool {
	return r.command != "print" && r.command != "monitor-traffic" && r.command != "monitor"
}

// protocol is one way to speak to a router: REST or the API.
type protocol interface {
	// do makes one exchange. Its error is a *Refusal, errNotSpoken, a *Lost or a failure.
	do(ctx context.Context, r request) ([]Item, error)
	// close drops idle connections.
	close()
}

// errNotSpoken means that the other side does not speak the protocol at all; the request was not executed.
var errNotSpoken = errors.New("the device does not speak this protocol")

// errClosed is the errNotSpoken of a port that refuses connections: nothing there said what it speaks.
var errClosed = fmt.Errorf("%w: connection refused", errNotSpoken)

// errAway answers a call when every port refused the connection: the router is off, or closed to us.
var errAway = errors.New("connection refused at every port of the router's services")

// link is shared by all Devices of one ID: connections and what was learned about the router.
type link struct {
	g      *Gateway
	target Target
	slots  chan struct{} // one for each call under way

	mu      sync.Mutex
	speech  Speech
	spoken  map[Speech]protocol
	byPost  bool // ids in paths were refused: quirks.go
	retired bool
}

// newLink makes the link of a device with the protocol that the target names, or unknown.
func newLink(g *Gateway, t Target) *link {
	return &link{
		g: g, target: t, slots: make(chan struct{}, g.cfg.Connections), speech: t.Speaks, spoken: map[Speech]protocol{},
	}
}

// retire closes idle connections, now and after each call: who still holds the device keeps none open, of which a
// router takes few.
func (l *link) retire() {
	l.mu.Lock()
	l.retired = true
	l.mu.Unlock()
	l.tidy()
}

// tidy closes the idle connections of a retired link.
func (l *link) tidy() {
	l.mu.Lock()
	var all []protocol
	if l.retired {
		all = slices.Collect(maps.Values(l.spoken))
	}
	l.mu.Unlock()
	for _, p := range all {
		p.close()
	}
}

// Target gives the target of the device, with the protocol that it was found to speak.
func (l *link) Target() Target {
	t := l.target
	t.Speaks = l.Speaks()
	return t
}

// Speaks gives the protocol that the device was found to speak so far; callers store it for the next Target.
func (l *link) Speaks() Speech {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.speech
}

// Allowed forms of menus, commands, ids and properties. A request with another form is a bug here and is not sent.
var (
	menuForm    = regexp.MustCompile(`^[a-z0-9-]+(/[a-z0-9-]+)*$`)
	commandForm = regexp.MustCompile(`^[a-z0-9-]+$`)
	idForm      = regexp.MustCompile(`^\*[0-9A-F]{1,16}$`)
	nameForm    = regexp.MustCompile(`^\.?[A-Za-z0-9][A-Za-z0-9.-]*$`)
)

// ValidID reports whether a text is an id in the form that routers give: "*1A".
func ValidID(id string) bool { return idForm.MatchString(id) }

// check refuses a request with a part that could change its meaning on the wire.
func (r request) check(needsID bool) error {
	if !menuForm.MatchString(r.menu) || !commandForm.MatchString(r.command) || needsID && !ValidID(r.id) ||
		r.id != "" && !ValidID(r.id) {
		return fmt.Errorf("router request /%s %s with id %q is malformed", r.menu, r.command, r.id)
	}
	names := slices.Concat(slices.Collect(maps.Keys(r.args)), slices.Collect(maps.Keys(r.where)), r.props)
	if bad := slices.IndexFunc(names, func(name string) bool { return !nameForm.MatchString(name) }); bad >= 0 {
		return fmt.Errorf("router property %q is malformed", names[bad])
	}
	return nil
}

// Print reads a menu, filtered by q; a menu that always has one item gives that one.
func (l *link) Print(ctx context.Context, menu string, q Query) ([]Item, error) {
	return l.call(ctx, request{menu: menu, command: "print", where: q.Where, props: q.Props}, false)
}

// Add creates an item and gives its id, or "" when the router's answer has no id.
func (l *link) Add(ctx context.Context, menu string, props map[string]string) (string, error) {
	items, err := l.call(ctx, request{menu: menu, command: "add", args: props}, false)
	if err != nil {
		return "", err
	}
	if len(items) == 0 || !ValidID(items[0].ID()) {
		return "", nil // the router gave no id; the caller reads it back
	}
	return items[0].ID(), nil
}

// Set changes an item, or the one item of a menu when id is empty.
func (l *link) Set(ctx context.Context, menu, id string, props map[string]string) error {
	_, err := l.call(ctx, request{menu: menu, command: "set", id: id, args: props}, false)
	return err
}

// Remove deletes an item; for an item that is not there the error meets IsMissing.
func (l *link) Remove(ctx context.Context, menu, id string) error {
	_, err := l.call(ctx, request{menu: menu, command: "remove", id: id}, true)
	return err
}

// Move puts an item before another one, or at the end when before is empty.
func (l *link) Move(ctx context.Context, menu, id, before string) error {
	args := map[string]string{"numbers": id}
	if before != "" {
		args["destination"] = before
	}
	if !ValidID(id) || before != "" && !ValidID(before) {
		return fmt.Errorf("move of %q before %q in /%s is malformed", id, before, menu)
	}
	_, err := l.call(ctx, request{menu: menu, command: "move", args: args}, false)
	return err
}

// Run executes any other command and gives its rows; a returned value is an item with "ret".
func (l *link) Run(ctx context.Context, menu, command string, args map[string]string) ([]Item, error) {
	return l.call(ctx, request{menu: menu, command: command, args: args}, false)
}

// Reboot restarts the router. A connection that breaks after the command was sent is a success; the caller checks the
// uptime later.
func (l *link) Reboot(ctx context.Context) error {
	_, err := l.call(ctx, request{menu: "system", command: "reboot"}, false)
	if err != nil && MayHaveApplied(err) {
		return nil
	}
	return err
}

// call passes a request through the breaker. An answer in the router's own words, refused credentials and an address
// that the policy refuses do not count as failures.
func (l *link) call(ctx context.Context, r request, needsID bool) ([]Item, error) {
	if err := r.check(needsID); err != nil {
		return nil, err
	}
	var items []Item
	began := l.g.cfg.Clock.Now()
	err := l.g.cfg.Guard.Do(ctx, BreakerKind, l.target.ID, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, l.g.cfg.Timeout)
		defer cancel()
		select {
		case l.slots <- struct{}{}:
			defer func() { <-l.slots }()
		case <-ctx.Done():
			return breaker.Unsent(lost(false, ctx.Err())) // our own queue says nothing about the router
		}
		if ctx.Err() != nil { // a free slot and an ended context at the same time
			return breaker.Unsent(lost(false, ctx.Err()))
		}
		defer l.tidy()
		var err error
		items, err = l.exchange(ctx, r)
		var refusal *Refusal
		if errors.As(err, &refusal) || errors.Is(err, errForbidden) {
			return breaker.Answered(err)
		}
		return err
	})
	err = l.outcome(ctx, err)
	l.g.cfg.Logger.InfoContext(ctx, "router call", "system", "routeros", "operation", r.command, "menu", r.menu,
		"target", l.target.ID,
		"duration", l.g.cfg.Clock.Now().Sub(began), "speaks", string(l.Speaks()), "outcome", word(err))
	return items, err
}

// outcome converts an error to the failure that callers see. Fails: router_refused, router_unauthorised,
// device_address_refused, device_unreachable.
func (l *link) outcome(ctx context.Context, err error) error {
	var refusal *Refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refusal):
		return refused(refusal)
	case errors.Is(err, errForbidden):
		return &failure.Error{
			Kind: failure.Denied, Code: "device_address_refused",
			Message: "The router's address is not allowed.", Cause: err,
		}
	}
	return unavailable(ctx, err)
}

// word names an outcome for the log: done, refused or failed.
func word(err error) string {
	switch {
	case err == nil:
		return "done"
	case RefusalOf(err) != nil:
		return "refused"
	}
	return "failed"
}

// exchange uses the known protocol first; when the router does not speak it, the others in the order of places.
func (l *link) exchange(ctx context.Context, r request) ([]Item, error) {
	ways := places(l.target.Port)
	known := l.Speaks()
	var tried []error
	for _, p := range ways {
		if p.speech != known {
			continue
		}
		items, err := l.speak(p).do(ctx, r)
		if !errors.Is(err, errNotSpoken) {
			return items, err
		}
		tried = append(tried, err)
	}
	for _, p := range ways {
		if p.speech == known {
			continue
		}
		items, err := l.first(ctx, p, r)
		if !errors.Is(err, errNotSpoken) {
			l.learn(p.speech, err)
			return items, err
		}
		tried = append(tried, err)
	}
	if !slices.ContainsFunc(tried, func(err error) bool { return !errors.Is(err, errClosed) }) {
		return nil, lost(false, errAway)
	}
	return nil, lost(false, errors.Join(tried...))
}

// first tries a protocol for the first time. REST is probed with a read first, because a web page that is not REST
// might answer a write, too.
func (l *link) first(ctx context.Context, p place, r request) ([]Item, error) {
	if p.speech == REST && (r.command != "print" || r.menu != "system/resource") {
		probe := request{menu: "system/resource", command: "print"}
		if _, err := l.speak(p).do(ctx, probe); err != nil {
			return nil, err
		}
	}
	return l.speak(p).do(ctx, r)
}

// learn remembers the protocol of a device that answered, even if it refused.
func (l *link) learn(s Speech, err error) {
	var refusal *Refusal
	if err != nil && !errors.As(err, &refusal) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.speech = s
}

// speak gives the protocol of a place, made at its first use.
func (l *link) speak(p place) protocol {
	l.mu.Lock()
	defer l.mu.Unlock()
	way, ok := l.spoken[p.speech]
	if !ok {
		if p.speech == REST {
			way = newREST(l, p)
		} else {
			way = newAPI(l, p)
		}
		l.spoken[p.speech] = way
	}
	return way
}
