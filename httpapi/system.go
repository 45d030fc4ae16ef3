package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Check is a dependency that must be up for the service to be ready. /readyz shows the message of a failure.Error; any
// other error is only logged.
type Check struct {
	Name     string
	Probe    func(ctx context.Context) error
	WaitsFor []string // names of parts without which it cannot succeed
}

// BreakerState is the condition of one outside system as the API shows it (docs/rules/http.md#breakers).
type BreakerState struct {
	Target    string     `json:"target"`
	Kind      string     `json:"kind"`
	State     string     `json:"state" enum:"closed,open,half_open"`
	Failures  int        `json:"failures"`
	OpenedAt  *time.Time `json:"openedAt"`
	RetryAt   *time.Time `json:"retryAt"`
	LastError *string    `json:"lastError"`
	// OrgID is the organization whose device it is, "" for a system of the platform. It is not shown.
	OrgID string `json:"-"`
	// The names of both, as far as they are known.
	Device       *BreakerDevice       `json:"device" doc:"the router that target names"`
	Organization *BreakerOrganization `json:"organization" doc:"whose router it is; on the root host alone"`
}

// Open reports whether nothing was heard since it opened: it lets nothing through, or one probe.
func (b BreakerState) Open() bool { return b.State != "closed" }

// Failing reports whether it lets calls through, and the last one failed.
func (b BreakerState) Failing() bool { return b.State == "closed" && b.Failures > 0 }

// BreakerDevice names the router of a breaker.
type BreakerDevice struct {
	ID   id.Device `json:"id"`
	Name string    `json:"name"`
}

// BreakerOrganization names the organization whose router a breaker is of.
type BreakerOrganization struct {
	ID   id.Organization `json:"id"`
	Slug string          `json:"slug"`
	Name string          `json:"name"`
}

// SystemAPI serves health, readiness, projections and breakers. All fields but Name are required.
type SystemAPI struct {
	Checks      []Check
	Parts       func(ctx context.Context) []Part // those of Checks that are neither read models nor processes
	Projections func() []runner.Status
	Breakers    func() []BreakerState
	// Name writes the names of routers and organizations into breakers; nil = none are known.
	Name   func(ctx context.Context, breakers []BreakerState) error
	Logger *slog.Logger
	away   []loop.Outage // of Checks, for the log
}

// probeLimit bounds one readiness check.
const probeLimit = 2 * time.Second

// healthResponse is the answer of /healthz while the process runs.
type healthResponse struct {
	Status string `json:"status" enum:"ok"`
}

// readyResponse has one entry for each dependency, by its name. Strangers get the status alone, since the parts tell
// them what to attack (docs/rules/http.md#health).
type readyResponse struct {
	Status string                 `json:"status" enum:"ready,not_ready"`
	Checks map[string]checkResult `json:"checks,omitempty" doc:"for callers on the machine and super_admin"`
}

// checkResult is the state of one dependency. Detail is empty when it is up, or when its error must not be shown.
type checkResult struct {
	Status string `json:"status" enum:"up,down"`
	Detail string `json:"detail,omitempty"`
}

// ListOf is the answer of a list without pages: it always has all rows.
type ListOf[T any] struct {
	Data []T `json:"data"`
}

// projectionResponse is the progress of one read model. Positions are those of the log.
type projectionResponse struct {
	Name       string           `json:"name"`
	Version    int              `json:"version"`
	Generation int              `json:"generation" doc:"counts rebuilds"`
	State      string           `json:"state" enum:"behind,live,stopped,following,building,outdated"`
	Position   uint64           `json:"position"`
	Head       uint64           `json:"head"`
	Lag        uint64           `json:"lag" doc:"head - position, in the log's units; 0 = everything is shown"`
	Error      string           `json:"error,omitempty"`
	Rebuild    *rebuildProgress `json:"rebuild"`
}

// rebuildProgress is the progress of a rebuild into new tables beside the present ones.
type rebuildProgress struct {
	Generation int    `json:"generation"`
	Version    int    `json:"version"`
	Position   uint64 `json:"position"`
	Head       uint64 `json:"head"`
	Error      string `json:"error,omitempty"`
}

// Routes lists the endpoints.
func (a SystemAPI) Routes() []Route {
	a.away = make([]loop.Outage, len(a.Checks))
	return []Route{
		{
			Method: http.MethodGet, Path: "/healthz", Hosts: OnEvery, Access: AccessPublic,
			Summary: "The process is up", Response: healthResponse{}, InMemory: true, Handle: a.health,
		},
		{
			Method: http.MethodGet, Path: "/readyz", Hosts: OnEvery, Access: AccessPublic,
			Summary: "Whether everything is up; 503 when a part is down", Response: readyResponse{},
			Answers: map[int]any{http.StatusServiceUnavailable: readyResponse{}}, InMemory: true, Handle: a.ready,
		},
		{
			Method: http.MethodGet, Path: "/system/projections", Hosts: OnBoth, Access: AccessAdmin,
			Summary: "Progress of the read models", Response: ListOf[projectionResponse]{}, Handle: a.projections,
		},
		{
			Method: http.MethodGet, Path: "/system/parts", Hosts: OnRoot, Access: AccessSuperAdmin,
			Summary:  "Parts of the program, such as the event store, and whether each is up",
			Response: ListOf[Part]{}, InMemory: true, Handle: a.parts,
		},
		{
			Method: http.MethodGet, Path: "/platform/breakers", Hosts: OnBoth, Access: AccessAdmin,
			Summary:  "Breakers: all on the root host, those of its own devices on an organization's host",
			Response: ListOf[BreakerState]{}, Handle: a.breakers,
		},
	}
}

// health answers without asking any dependency.
func (a SystemAPI) health(_ context.Context, c *Call) error {
	return c.Send(http.StatusOK, healthResponse{Status: "ok"})
}

// ready asks all dependencies at the same time, for at most probeLimit.
func (a SystemAPI) ready(ctx context.Context, c *Call) error {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	results := make([]checkResult, len(a.Checks))
	var wait sync.WaitGroup
	for i := range a.Checks {
		wait.Go(func() { results[i] = a.probe(ctx, i) })
	}
	wait.Wait()
	status, out := http.StatusOK, readyResponse{Status: "ready", Checks: map[string]checkResult{}}
	for i, r := range results {
		out.Checks[a.Checks[i].Name] = r
		if r.Status != "up" {
			status, out.Status = http.StatusServiceUnavailable, "not_ready"
		}
	}
	if !local(c.Request) && (c.SignIn(ctx) != nil || c.Caller.Role != events.RoleSuperAdmin) {
		out.Checks = nil
	}
	return c.Send(status, out)
}

// SendAwaited answers /readyz while the program starts and waits for a dependency. Its name and the detail are for
// callers on the machine.
func SendAwaited(w http.ResponseWriter, r *http.Request, dependency, detail string) {
	out := readyResponse{Status: "not_ready"}
	if local(r) {
		out.Checks = map[string]checkResult{dependency: {Status: "down", Detail: detail}}
	}
	w.Header().Set("Content-Type", contentJSON)
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	_ = json.NewEncoder(w).Encode(out) // it fails only when the client has gone
}

// probe runs one check, and tells the log what has changed.
func (a SystemAPI) probe(ctx context.Context, i int) checkResult {
	err := ask(ctx, a.Checks[i])
	a.tell(ctx, i, err)
	return resultOf(err)
}

// tell writes to the log what has changed, and once a minute what stays down: anybody may ask, and as often as he
// likes. A caller who has gone says nothing about a check.
func (a SystemAPI) tell(ctx context.Context, i int, err error) {
	check := slog.String("check", a.Checks[i].Name)
	if err == nil {
		if a.away[i].Ended() {
			a.Logger.LogAttrs(ctx, slog.LevelInfo, "readiness check passes again", check)
		}
		return
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	if tell, _ := a.away[i].Failed(); tell {
		a.Logger.LogAttrs(ctx, slog.LevelWarn, "readiness check failed", check, slog.String("error", err.Error()))
	}
}

// projections shows every read model, with error texts on the root host only.
func (a SystemAPI) projections(_ context.Context, c *Call) error {
	out := ListOf[projectionResponse]{Data: []projectionResponse{}}
	for _, s := range a.Projections() {
		row := projectionResponse{
			Name: s.Name, Version: s.Version, Generation: s.Generation, State: string(s.State), Position: s.Position,
			Head: s.Head, Lag: lag(s), Error: s.Error,
		}
		if p := s.Rebuild; p != nil {
			row.Rebuild = &rebuildProgress{
				Generation: p.Generation, Version: p.Version, Position: p.Position, Head: p.Head, Error: p.Error,
			}
		}
		if c.hostKind != OnRoot { // an error may quote another tenant's event
			row.Error = ""
			if row.Rebuild != nil {
				row.Rebuild.Error = ""
			}
		}
		out.Data = append(out.Data, row)
	}
	return c.Send(http.StatusOK, out)
}

// lag is the distance from a projection to the end of the log, in the log's units.
func lag(s runner.Status) uint64 {
	if s.Position >= s.Head {
		return 0
	}
	return s.Head - s.Position
}

// breakers shows all outside systems on the root host, and an organization's own devices on its host. They are shown
// without names when those cannot be read: what cannot be reached is asked for when much else fails, too.
func (a SystemAPI) breakers(ctx context.Context, c *Call) error {
	out := ListOf[BreakerState]{Data: []BreakerState{}}
	for _, b := range a.Breakers() {
		if c.hostKind == OnRoot || b.OrgID != "" && b.OrgID == c.Org.ID.String() {
			out.Data = append(out.Data, b)
		}
	}
	if a.Name != nil {
		if err := a.Name(ctx, out.Data); err != nil {
			a.Logger.WarnContext(ctx, "breakers are shown without names", "error", err)
		}
	}
	for i := range out.Data {
		if c.hostKind != OnRoot {
			out.Data[i].Organization = nil
		}
	}
	return c.Send(http.StatusOK, out)
}
