package reportsapi

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/reports"
)

// Platform serves /reports/today on the root host.
type Platform struct {
	Organizations identityviews.OrganizationsQuery
	Receipts      paymentsviews.ReceiptsQuery
	Breakers      func() []httpapi.BreakerState
	Projections   func() []runner.Status
	Processes     httpapi.Processes
	Parts         func(ctx context.Context) []httpapi.Part // that are neither read models nor processes
	Clock         clock.Clock
}

// platformResponse is how the platform does.
type platformResponse struct {
	AsOf          time.Time           `json:"asOf"`
	Organizations *organizationsToday `json:"organizations" doc:"null: the database is away"`
	Suspense      *[]currencySuspense `json:"suspense" doc:"of no organization; null: the database is away"`
	Breakers      breakersToday       `json:"breakers" doc:"with the devices of all organizations"`
	Projections   stoppedToday        `json:"projections"`
	Processes     *stoppedToday       `json:"processes" doc:"null: the database is away"`
	Faults        []faultShape        `json:"faults" doc:"what is broken now, the worst first"`
}

// organizationsToday counts organizations.
type organizationsToday struct {
	Total     int `json:"total"`
	Suspended int `json:"suspended"`
}

// currencySuspense is money in one currency that waits for a person.
type currencySuspense struct {
	Currency money.Currency `json:"currency"`
	suspenseToday
}

// breakersToday counts the breakers of what does not answer. Source: docs/rules/http.md#breakers.
type breakersToday struct {
	Open    int `json:"open" doc:"open or half_open: does not answer"`
	Failing int `json:"failing" doc:"closed, but the last call failed"`
}

// stoppedToday counts what has stopped, in part or whole.
type stoppedToday struct {
	Stopped int `json:"stopped"`
}

// Kinds of faults of the platform.
const (
	partDown          = "part_down"
	projectionStopped = "projection_stopped"
	rebuildStopped    = "rebuild_stopped"
	processStopped    = "process_stopped"
	breakerOpen       = "breaker_open"
)

// Routes lists the endpoint.
func (a Platform) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: "GET", Path: "/reports/today", Hosts: httpapi.OnRoot, Access: httpapi.AccessSuperAdmin,
		Summary: "How the platform does now, and what is broken", Response: platformResponse{},
		InMemory: true, Handle: a.report,
	}}
}

// report answers with the parts of the program that have stopped, and with money of no organization.
func (a Platform) report(ctx context.Context, c *httpapi.Call) error {
	out, err := a.read(ctx)
	if err != nil {
		return err
	}
	return c.Send(200, out)
}

// read leaves null what only the database knows while it is away: a zero would say that nothing waits there.
func (a Platform) read(ctx context.Context) (platformResponse, error) {
	out := platformResponse{AsOf: a.Clock.Now().UTC(), Faults: []faultShape{}}
	parts := a.Parts(ctx)
	out.Faults = append(out.Faults, faultsOf(parts)...)
	if !isDown(parts, "postgres") {
		if err := a.stored(ctx, &out); err != nil {
			return out, err
		}
	}
	a.projections(&out)
	a.breakers(&out)
	return out, nil
}

// stored adds what is read from the database: organizations, money of none of them, and processes.
func (a Platform) stored(ctx context.Context, out *platformResponse) error {
	counted, err := a.Organizations.Count(ctx)
	if err != nil {
		return err
	}
	organizations := organizationsToday(counted)
	out.Organizations = &organizations
	unowned, err := a.Receipts.UnownedSuspense(ctx, a.Clock.Now().AddDate(0, 0, -usecases.UsualSuspenseDays))
	if err != nil {
		return err
	}
	suspense := make([]currencySuspense, 0, len(unowned))
	for _, s := range unowned {
		suspense = append(suspense, shownSuspense(s))
	}
	out.Suspense = &suspense
	return a.processes(ctx, out)
}

// shownSuspense writes money of one currency.
func shownSuspense(s paymentsviews.CurrencySuspense) currencySuspense {
	return currencySuspense{s.Currency, suspenseToday{
		Amount: money.Of(s.AmountMinor, s.Currency).Number(), Count: s.Count, OldestAt: s.OldestAt,
		Late: s.Late,
	}}
}

// partFaults says of each part what does not work without it.
var partFaults = map[string]string{
	"eventstore":         "The event store does not answer, so that nothing can be saved.",
	"postgres":           "The database does not answer.",
	"writes":             "The database takes no writes, so that nothing can be saved.",
	"identity_directory": "It is not known whether what the program knows of persons and organizations is new.",
	"access_directory":   "It is not known whether sign-ins of customers are answered by what is true now.",
	"accounting":         "Reports of routers can be kept neither in the database nor on the disk.",
	"callbacks":          "Callbacks about money wait on the disk.",
	"jobs":               "Jobs wait, and no program works on them.",
}

// isDown reports whether a part is down.
func isDown(parts []httpapi.Part, name string) bool {
	return slices.ContainsFunc(parts, func(p httpapi.Part) bool { return p.Name == name && p.Down() })
}

// faultsOf lists what is down, as /readyz says. Since when is not known: nobody looks all the time. What waits for a
// part that is down is no fault of its own.
func faultsOf(parts []httpapi.Part) (out []faultShape) {
	for _, p := range parts {
		if !p.Down() || p.Waits(parts) {
			continue
		}
		out = append(out, faultShape{
			Kind: partDown, Root: rootShape{Type: reportscases.RootPart, ID: null.Of(p.Name), Name: p.Name},
			Message: cmp.Or(partFaults[p.Name], "The part "+p.Name+" is down."), Words: p.Detail,
			Effects: []kindCount{},
		})
	}
	return out
}

// projections adds the read models that have stopped: what people see is old.
func (a Platform) projections(out *platformResponse) {
	for _, s := range a.Projections() {
		f := faultShape{
			Kind: projectionStopped, Root: rootShape{Type: rootProjection, ID: null.Of(s.Name), Name: s.Name},
			Message: "The read model " + s.Name + " has stopped, so that what it shows is old.",
			Words:   null.Of(s.Error), Effects: []kindCount{},
		}
		switch {
		case s.State == runner.StateStopped:
		case s.Rebuild != nil && s.Rebuild.Error != "":
			f.Kind = rebuildStopped
			f.Message = "The rebuild of the read model " + s.Name + " has stopped, and the tables of before are shown."
			f.Words = null.Of(s.Rebuild.Error)
		default:
			continue
		}
		out.Projections.Stopped++
		out.Faults = append(out.Faults, f)
	}
}

// processes adds the processes of which something has stopped: what should follow from events does not.
func (a Platform) processes(ctx context.Context, out *platformResponse) error {
	list, err := a.Processes.List(ctx, "")
	if err != nil {
		return err
	}
	out.Processes = &stoppedToday{}
	for _, p := range list {
		stopped := p.State == "stopped"
		if !stopped && len(p.Stopped) == 0 {
			continue
		}
		out.Processes.Stopped++
		f := faultShape{
			Kind: processStopped, Root: rootShape{Type: rootProcess, ID: null.Of(p.Name), Name: p.Name},
			Message: "The process " + p.Name + " has stopped.", Words: null.Of(p.Error), Effects: []kindCount{},
		}
		if n := len(p.Stopped); n > 0 {
			f.Effects = append(f.Effects, kindCount{Kind: "parts_stopped", Count: n})
			f.Since = p.Stopped[0].Since
			if !stopped {
				f.Message = "Of the process " + p.Name + " " + strconv.Itoa(n) + " parts have stopped."
				f.Words = null.Of(p.Stopped[0].Error)
			}
		}
		out.Faults = append(out.Faults, f)
	}
	return nil
}

// breakers adds the outside systems that do not answer: of an organization's own devices only the number, and also of
// those that are called still, since their next call may succeed.
func (a Platform) breakers(out *platformResponse) {
	for _, b := range a.Breakers() {
		if b.Failing() {
			out.Breakers.Failing++
		}
		if !b.Open() {
			continue
		}
		out.Breakers.Open++
		if b.OrgID != "" {
			continue // on that organization's host
		}
		out.Faults = append(out.Faults, faultShape{
			Kind: breakerOpen, Root: rootShape{Type: rootBreaker, ID: null.Of(b.Target), Name: b.Kind + " " + b.Target},
			Since: b.OpenedAt, Message: "The system " + b.Target + " cannot be reached.", Words: b.LastError,
			Effects: []kindCount{},
		})
	}
}
