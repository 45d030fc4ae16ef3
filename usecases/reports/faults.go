package reportscases

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/reports"
)

// Kinds of faults, the worst first (docs/rules/reports.md#faults).
const (
	NothingSaved        = "nothing_saved"
	ProviderDown        = "provider_down"
	Outage              = "outage"
	RouterDown          = "router_down"
	CutsHeld            = "cuts_held"
	RunHeld             = "run_held"
	RunFailed           = "run_failed"
	BatchStill          = "batch_still"
	MessagesHeld        = "messages_held"
	TaxRefused          = "tax_refused"
	TaxLate             = "tax_late"
	WebhookDisabled     = "webhook_disabled"
	GatewayUnregistered = "gateway_unregistered"
	ServiceFailed       = "service_failed"
	ServiceDegraded     = "service_degraded"
	RouterDrifted       = "router_drifted"
)

// Kinds lists them in their order.
var Kinds = []string{
	NothingSaved, ProviderDown, Outage, RouterDown, RunHeld, RunFailed, BatchStill, CutsHeld, MessagesHeld, TaxLate,
	TaxRefused, WebhookDisabled, GatewayUnregistered, ServiceFailed, ServiceDegraded, RouterDrifted,
}

// Effects that are no faults themselves.
const (
	PaymentsWaiting = "payments_waiting"
	NotInvoiced     = "not_invoiced" // customers
)

// What a fault is about.
const (
	RootPart     = "part" // of the program; an organization does not learn which
	RootDevice   = "device"
	RootOutage   = "outage"
	RootService  = "service"
	RootGateway  = "gateway"
	RootProvider = "provider"
	RootRun      = "run"
	RootBatch    = "batch"
	RootFuse     = "fuse"
	RootTax      = "tax"
	RootWebhook  = "webhook"
)

// RootTypes are all of these, for answers that have one of them.
var RootTypes = []string{
	RootPart, RootDevice, RootOutage, RootService, RootGateway, RootProvider, RootRun, RootBatch, RootFuse, RootTax,
	RootWebhook,
}

// Fault is something that is broken now, with all that is broken because of it.
type Fault struct {
	Kind      string
	Root      Root
	Since     time.Time // zero = not known
	Customers *int      // who are off because of it; nil = not known
	OffBehind id.Device // the router behind which they are, for OffBehind; zero = nobody is counted
	Message   string    // a sentence
	Words     string    // of the router or the provider, for those who may read them; "" = none
	Effects   []Effect
}

// Root names the broken thing. The id is "" when there is none, or when the caller may not open it.
type Root struct{ Type, ID, Name string }

// Effect counts what is broken because of a fault.
type Effect struct {
	Kind  string
	Count int
}

// add counts one more effect of a kind.
func (f *Fault) add(kind string) {
	for i := range f.Effects {
		if f.Effects[i].Kind == kind {
			f.Effects[i].Count++
			return
		}
	}
	f.Effects = append(f.Effects, Effect{Kind: kind, Count: 1})
}

// network counts routers and services, and finds what is broken. What is wrong with the services of a router that does
// not answer is an effect of that.
func (r reading) network(ctx context.Context) error {
	if r.saving(ctx) {
		if err := r.payments(ctx); err != nil {
			return err
		}
	}
	devices, err := networkviews.DevicesQuery{Views: r.Views}.Health(ctx, r.org)
	if err != nil {
		return err
	}
	services, err := networkviews.ServicesQuery{Views: r.Views}.Unwell(ctx, r.org)
	if err != nil {
		return err
	}
	polls, err := r.Polls.Latest(ctx, r.org, nil)
	if err != nil {
		return err
	}
	gone := away(devices, polls)
	off, err := r.Sessions.Unheard(ctx, r.org, gone)
	if err != nil {
		return err
	}
	if r.out.Unheard, err = r.Sessions.OnlineUnheard(ctx, r.org, gone); err != nil {
		return err
	}
	r.countServices(services)
	of := map[id.Device][]networkviews.UnwellService{}
	for _, s := range services {
		of[s.DeviceID] = append(of[s.DeviceID], s)
	}
	outages, err := r.outages(ctx)
	if err != nil {
		return err
	}
	for _, d := range devices {
		if d.SetupAt != nil || slices.ContainsFunc(of[d.ID], drifts) {
			r.out.Network.Drifted++
		}
		if r.condition(d, polls) == networkviews.ConditionDown {
			down := routerDown(d, of[d.ID], off, polls[d.ID])
			if !outages.has(d.ID, down) {
				r.out.Faults = append(r.out.Faults, down)
			}
			continue
		}
		r.unwell(d, of[d.ID])
	}
	r.out.Faults = append(r.out.Faults, outages.faults...)
	slices.SortStableFunc(r.out.Faults, worse)
	return nil
}

// drifts reports whether the last check of a service found a difference.
func drifts(s networkviews.UnwellService) bool { return s.DriftAt != nil }

// condition counts a router by whether it answers.
func (r reading) condition(d networkviews.DeviceHealth, polls map[id.Device]networkviews.Poll) string {
	out := conditionOf(d, polls)
	switch n := &r.out.Network; out {
	case networkviews.ConditionUp:
		n.Up++
	case networkviews.ConditionDown:
		n.Down++
	default:
		n.Unknown++
	}
	return out
}

// conditionOf says whether a router answers, as the fleet does.
func conditionOf(d networkviews.DeviceHealth, polls map[id.Device]networkviews.Poll) string {
	poll, polled := polls[d.ID]
	return networkviews.Condition(d.Credentials, polled, poll.Reachable, d.Since != nil)
}

// countServices counts what needs somebody.
func (r reading) countServices(list []networkviews.UnwellService) {
	for _, s := range list {
		if drifts(s) {
			r.out.Network.ServicesDrifted++
		}
		if s.State == networkviews.StateFailed {
			r.out.Network.ServicesFailed++
		}
	}
}

// away are the routers that do not answer, and since when. One that failed a poll or two is not there yet: nobody knows
// whether its customers are off.
func away(devices []networkviews.DeviceHealth, polls map[id.Device]networkviews.Poll) map[id.Device]time.Time {
	out := map[id.Device]time.Time{}
	for _, d := range devices {
		if d.Since != nil && conditionOf(d, polls) == networkviews.ConditionDown {
			out[d.ID] = *d.Since
		}
	}
	return out
}

// routerDown is the fault of a router that does not answer.
func routerDown(
	d networkviews.DeviceHealth, services []networkviews.UnwellService, off map[id.Device]int, p networkviews.Poll,
) Fault {
	f := Fault{
		Kind: RouterDown, Root: Root{RootDevice, d.ID.String(), d.Name}, Since: null.Zero(d.Since),
		Message: d.Name + " does not answer.", Words: cmp.Or(d.Error, p.Error),
	}
	if d.Since != nil {
		customers := off[d.ID]
		f.Customers = &customers
		if customers > 0 {
			f.OffBehind = d.ID
		}
	}
	for _, s := range services {
		f.add(kindOf(s))
	}
	if d.SetupAt != nil {
		f.add(RouterDrifted)
	}
	return f
}

// kindOf is the fault that a service has: it failed, or it differs from what was applied.
func kindOf(s networkviews.UnwellService) string {
	if s.State == networkviews.StateFailed {
		return ServiceFailed
	}
	return ServiceDegraded
}

// unwell adds the faults of a router that answers, and of its services.
func (r reading) unwell(d networkviews.DeviceHealth, services []networkviews.UnwellService) {
	for _, s := range services {
		name := s.Type + " on " + s.Parent + ", " + d.Name
		f := Fault{Kind: kindOf(s), Root: Root{RootService, s.ID.String(), name}, Since: null.Zero(s.DriftAt)}
		switch {
		case f.Kind == ServiceFailed:
			f.Message, f.Since = "The service "+name+" failed.", time.Time{}
			if s.Error != nil {
				f.Since, f.Words = s.Error.At, s.Error.Message
			}
		case drifts(s):
			f.Message = "The service " + name + " differs from what was applied. Reconcile it."
		default:
			f.Message = "The service " + name + " differed from what was applied. Reconcile it to be sure."
		}
		r.out.Faults = append(r.out.Faults, f)
	}
	if d.SetupAt != nil {
		r.out.Faults = append(r.out.Faults, Fault{
			Kind: RouterDrifted, Root: Root{RootDevice, d.ID.String(), d.Name}, Since: *d.SetupAt,
			Message: "The setup of " + d.Name + " differs from what it should be.",
		})
	}
}

// saving adds the fault that nothing can be saved, and reports whether there is none. What is down stands on the root
// host alone.
func (r reading) saving(ctx context.Context) bool {
	if r.Saves(ctx) == nil {
		return true
	}
	r.out.Faults = append(r.out.Faults, Fault{
		Kind: NothingSaved, Root: Root{Type: RootPart, Name: "the platform"},
		Message: "Nothing can be saved at the moment. Ask the platform's operator.",
	})
	return false
}

// payments adds the faults that keep customers from paying. It asks the log, so it fails while that is away.
func (r reading) payments(ctx context.Context) error {
	since, err := r.ProviderAway(ctx, r.org)
	if err != nil {
		return err
	}
	if !since.IsZero() {
		f := Fault{
			Kind: ProviderDown, Root: Root{Type: RootProvider, Name: "mobile money"}, Since: since,
			Message: "The payment provider cannot be reached.",
		}
		if r.out.Waiting > 0 {
			f.Effects = []Effect{{Kind: PaymentsWaiting, Count: r.out.Waiting}}
		}
		r.out.Faults = append(r.out.Faults, f)
	}
	gateway, err := paymentsviews.GatewaysQuery{Views: r.Views}.Get(ctx, r.org)
	if err != nil || gateway == nil || !gateway.Direct || gateway.Registered {
		return err
	}
	r.out.Faults = append(r.out.Faults, Fault{
		Kind: GatewayUnregistered, Root: Root{RootGateway, "", gateway.Shortcode}, Words: gateway.Error,
		Message: "The provider has not registered the own shortcode " + gateway.Shortcode + ".",
	})
	return nil
}

// worse orders faults: by kind, then by how many are off, then the oldest first.
func worse(a, b Fault) int {
	return cmp.Or(
		cmp.Compare(slices.Index(Kinds, a.Kind), slices.Index(Kinds, b.Kind)),
		cmp.Compare(null.Or(b.Customers, 0), null.Or(a.Customers, 0)),
		a.Since.Compare(b.Since),
	)
}

// OffBehind lists the customers who are off because a router does not answer: those whom its fault counts. It is empty
// for a router that answers, and for one of another organization.
func (u Today) OffBehind(ctx context.Context, org id.Organization, device id.Device) ([]id.Subscriber, error) {
	gone, err := u.Away(ctx, org)
	if err != nil {
		return nil, err
	}
	since, is := gone[device]
	if !is {
		return nil, nil
	}
	return u.Sessions.UnheardAt(ctx, org, device, since)
}

// OutagesAmong gives, of some customers, those whom faults of routers count as off, with the router: of two of them
// the one that went away first.
func (u Today) OutagesAmong(
	ctx context.Context, org id.Organization, subscribers []id.Subscriber,
) (map[id.Subscriber]RouterAway, error) {
	if len(subscribers) == 0 {
		return nil, nil
	}
	gone, err := u.gone(ctx, org)
	if err != nil || len(gone.since) == 0 {
		return nil, err
	}
	list, err := u.Sessions.UnheardAmong(ctx, org, subscribers, gone.since)
	if err != nil {
		return nil, err
	}
	out := make(map[id.Subscriber]RouterAway, len(list))
	for _, o := range list {
		out[o.SubscriberID] = RouterAway{DeviceID: o.DeviceID, Name: gone.names[o.DeviceID], Since: o.Since}
	}
	return out, nil
}

// OnlineUnheard counts the customers with an open session who are off because a router does not answer.
func (u Today) OnlineUnheard(ctx context.Context, org id.Organization) (int, error) {
	gone, err := u.Away(ctx, org)
	if err != nil || len(gone) == 0 {
		return 0, err
	}
	return u.Sessions.OnlineUnheard(ctx, org, gone)
}

// RouterAway is a router that does not answer, behind which a customer is off with one of the services at least.
type RouterAway struct {
	DeviceID id.Device
	Name     string
	Since    time.Time // the router does not answer
}

// Away gives the routers that do not answer, and since when. Others read the map, too.
func (u Today) Away(ctx context.Context, org id.Organization) (map[id.Device]time.Time, error) {
	gone, err := u.gone(ctx, org)
	return gone.since, err
}

// Gone are the routers of an organization that do not answer.
type Gone struct {
	since map[id.Device]time.Time
	names map[id.Device]string
}

// gone gives them. Every page of customers asks, so those who ask at the same time share one reading of the polls.
func (u Today) gone(ctx context.Context, org id.Organization) (Gone, error) {
	if devices, err := u.unreachable(ctx, org); err != nil || len(devices) == 0 {
		return Gone{}, err
	}
	return u.SharedGone.Of(ctx, org, func(ctx context.Context) (Gone, error) {
		devices, err := u.unreachable(ctx, org) // once more, because a reading serves who asked later, too
		if err != nil {
			return Gone{}, err
		}
		out, of := Gone{names: make(map[id.Device]string, len(devices))}, make([]id.Device, len(devices))
		for i, d := range devices {
			of[i], out.names[d.ID] = d.ID, d.Name
		}
		polls, err := u.Polls.Latest(ctx, org, of)
		out.since = away(devices, polls)
		return out, err
	})
}

// unreachable gives the routers whose breakers have opened. Others read the list, too.
func (u Today) unreachable(ctx context.Context, org id.Organization) ([]networkviews.DeviceHealth, error) {
	return u.Unreachable.Of(ctx, u.Views, networkviews.DevicesName, org,
		func(ctx context.Context) ([]networkviews.DeviceHealth, error) {
			return networkviews.DevicesQuery{Views: u.Views}.Unreachable(ctx, org)
		})
}

// withoutNetwork is the report without what is an admin's: figures of routers, their ids, and words of routers and the
// provider. The names stay: an outage is why customers call. Others may read the report meanwhile, so it is copied.
func (r Report) withoutNetwork() Report {
	r.Network = Network{}
	for _, kind := range reportsviews.NetworkKinds {
		delete(r.Since.Kinds, kind)
	}
	r.Faults = slices.Clone(r.Faults)
	for i := range r.Faults {
		if r.Faults[i].Words = ""; r.Faults[i].Root.Type != RootOutage { // support may open outages
			r.Faults[i].Root.ID = ""
		}
	}
	return r
}
