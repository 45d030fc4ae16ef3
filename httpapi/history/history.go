// Package historyapi serves the past of aggregates to support.
package historyapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/usecases/history"
)

// History serves /history.
type History struct {
	Cases historycases.Histories
	Clock clock.Clock
	// Zone is where the days of an organization begin and end; on the root host they are those of UTC.
	Zone func(context.Context, id.Organization) (*time.Location, error)
	// Names gives what people call some users or API keys of an organization: kind is "user" or "apikey".
	Names func(ctx context.Context, org id.Organization, kind string, targets []id.Any) (map[id.Any]string, error)
}

// historyEntry is one event of an aggregate (docs/rules/audit.md#history).
type historyEntry struct {
	Position      int64              `json:"position" doc:"of the event in the log"`
	Revision      int64              `json:"revision" doc:"number in the history, from 0; what after takes"`
	EventID       id.Event           `json:"eventId"`
	Type          string             `json:"type" doc:"such as billing.InvoiceIssued"`
	At            time.Time          `json:"at"`
	Actor         httpapi.AuditActor `json:"actor"`
	IP            *string            `json:"ip" doc:"null: none, or the person was forgotten"`
	Action        string             `json:"action" doc:"command that led to it"`
	Reason        *string            `json:"reason" doc:"null: none, or the person was forgotten"`
	CorrelationID string             `json:"correlationId" doc:"the same in all events that follow from one request"`
	CausationID   *string            `json:"causationId" doc:"the event that a process followed; null: none"`
	Hidden        bool               `json:"hidden" doc:"another organization's report: only when and of which type"`
	Data          any                `json:"data" doc:"null when hidden; {hidden} stands for what is not shown"`
	Change        []historyChange    `json:"change" doc:"of the state, by this event"`
	More          bool               `json:"more" doc:"it changed more fields than these"`
}

// historyChange is one field of the state that changed.
type historyChange struct {
	Field string `json:"field" doc:"names with dots between"`
	From  any    `json:"from" doc:"null: absent or empty; {hidden} stands for what is not shown"`
	To    any    `json:"to"`
}

// historyState is an aggregate as it was.
type historyState struct {
	Type     string    `json:"type"`
	ID       id.Any    `json:"id"`
	At       time.Time `json:"at" doc:"the instant that was asked for"`
	Revision int64     `json:"revision" doc:"of its last event then"`
	LastAt   time.Time `json:"lastAt" doc:"when that was recorded"`
	State    any       `json:"state" doc:"{hidden} stands for what is not shown"`
}

// historyDifference tells how an aggregate differs between two instants.
type historyDifference struct {
	Type         string          `json:"type"`
	ID           id.Any          `json:"id"`
	From         time.Time       `json:"from"`
	To           time.Time       `json:"to"`
	FromRevision *int64          `json:"fromRevision" doc:"of the last event then; null: it did not exist yet"`
	ToRevision   int64           `json:"toRevision"`
	Change       []historyChange `json:"change"`
	More         bool            `json:"more" doc:"more fields differ than these"`
}

// Orders of a list of events.
const (
	oldestFirst = "oldest"
	newestFirst = "newest"
)

// Routes lists the endpoints. Those of both kinds of host are alike but for who may call them.
func (a History) Routes() []httpapi.Route {
	codes := []string{"history_type_not_found", "history_not_begun", "not_found"}
	events := httpapi.Route{
		Method: http.MethodGet, Path: "/history/:type/:id", Hosts: httpapi.OnOrganization,
		Access: httpapi.AccessSupport, Recorded: true, Codes: codes, Row: historyEntry{}, Handle: a.list,
		Summary: "The events of one aggregate, by the category of its stream, and what each changed",
		Query: []httpapi.Param{
			{Name: "after", Type: "integer", Doc: "a revision: events after it; not with order=newest"},
			{
				Name: "order", Type: "string", Enum: []string{oldestFirst, newestFirst},
				Doc: "which events come first; absent = oldest",
			},
		},
	}
	state := httpapi.Route{
		Method: http.MethodGet, Path: "/history/:type/:id/state", Hosts: httpapi.OnOrganization,
		Access: httpapi.AccessSupport, Recorded: true, Codes: codes, Response: historyState{}, Handle: a.state,
		Summary: "One aggregate as it was at an instant",
		Query:   []httpapi.Param{{Name: "at", Type: "date-time", Doc: "absent = now; a date means its beginning"}},
	}
	diff := httpapi.Route{
		Method: http.MethodGet, Path: "/history/:type/:id/diff", Hosts: httpapi.OnOrganization,
		Access: httpapi.AccessSupport, Recorded: true, Codes: codes, Response: historyDifference{}, Handle: a.diff,
		Summary: "What differs in one aggregate between two instants",
		Query: []httpapi.Param{
			{Name: "from", Type: "date-time", Doc: "required; before its first event all that is there differs"},
			{Name: "to", Type: "date-time", Doc: "absent = now"},
		},
	}
	all := []httpapi.Route{events, state, diff}
	for _, r := range all {
		r.Hosts, r.Access = httpapi.OnRoot, httpapi.AccessSuperAdmin
		all = append(all, r)
	}
	return all
}

// open finds the aggregate of the path among those that the caller may read.
func (a History) open(ctx context.Context, c *httpapi.Call) (*historycases.History, error) {
	kind, err := historycases.KindOf(c.Param("type"), c.Org.ID.IsZero())
	if err != nil {
		return nil, err
	}
	if !c.Org.ID.IsZero() {
		if err := httpapi.Access(kind.Role).Check(c.Caller.Role); err != nil {
			return nil, err
		}
	}
	target, _ := id.Parse[id.Any](c.Param("id")) // one that is no id is found nowhere
	return a.Cases.Open(ctx, a.reader(c), historycases.Target{Category: kind.Category, ID: target})
}

// reader is the caller.
func (a History) reader(c *httpapi.Call) historycases.Reader {
	return historycases.Reader{Asked: c.Asked()}
}

// row is an entry with the names of those who acted.
type row struct {
	historycases.Entry
	names map[id.Any]string
}

// place is where a list of events goes on: behind the event with this number. First tells the beginning from it.
type place struct {
	Number uint64 `json:"n"`
	Goes   bool   `json:"g"`
}

// Key implements httpapi.Row.
func (r row) Key() place { return place{Number: r.Number, Goes: true} }

// list answers with a page of events.
func (a History) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	newest := f.OneOf("order", oldestFirst, newestFirst) == newestFirst
	var from uint64
	if text := f.Text("after"); text != "" {
		after, err := strconv.ParseUint(text, 10, 53)
		if err != nil || newest {
			f.Add("after", "must be a whole number from %d to %d", 0, uint64(1)<<53-1)
		}
		from = after + 1
	}
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showEntry, func(ctx context.Context, after place, max int) ([]row, error) {
		h, err := a.open(ctx, c)
		if err != nil {
			return nil, err
		}
		if err := a.Cases.Record(ctx, a.reader(c), h, historycases.Look{Kind: events.LookEvents}); err != nil {
			return nil, err
		}
		var list []historycases.Entry
		switch {
		case newest && after.Goes:
			list, err = h.Newest(ctx, after.Number, max)
		case newest:
			list, err = h.Newest(ctx, h.Len(), max)
		case after.Goes:
			list, err = h.Oldest(ctx, after.Number+1, max)
		default:
			list, err = h.Oldest(ctx, from, max)
		}
		if err != nil {
			return nil, err
		}
		return a.named(ctx, c.Org.ID, list)
	})
}

// named adds the names of people and API keys of an organization. The platform does not learn them.
func (a History) named(ctx context.Context, org id.Organization, list []historycases.Entry) ([]row, error) {
	of := map[string][]id.Any{}
	for _, e := range list {
		if kind, who := actingOf(e); kind != "" && !org.IsZero() {
			of[kind] = append(of[kind], who)
		}
	}
	names := map[id.Any]string{}
	for kind, who := range of {
		found, err := a.Names(ctx, org, kind, who)
		if err != nil {
			return nil, err
		}
		for i, name := range found {
			names[i] = name
		}
	}
	rows := make([]row, len(list))
	for i, e := range list {
		rows[i] = row{Entry: e, names: names}
	}
	return rows, nil
}

// actingOf is the user or the API key that led to an event; kind is "" for others.
func actingOf(e historycases.Entry) (kind string, who id.Any) {
	switch e.Event.Meta.Actor.Kind {
	case events.ActorUser:
		kind = "user"
	case events.ActorAPIKey:
		kind = "apikey"
	default: // programs, the provider, and people at the machine have no names here
		return "", who
	}
	who, err := id.Parse[id.Any](e.Event.Meta.Actor.ID)
	if err != nil {
		return "", who
	}
	return kind, who
}

// showEntry writes times in UTC, and null for what the event does not have. Of another organization's report it shows
// nothing but when it was recorded.
func showEntry(r row) historyEntry {
	e, m := r.Event, r.Event.Meta
	out := historyEntry{
		Position: int64(e.Position), Revision: int64(r.Number), EventID: e.ID, //nolint:gosec // both fit
		Type: r.Type, At: m.At.UTC(), Hidden: r.Foreign, Change: []historyChange{},
	}
	if r.Foreign {
		out.Actor.Kind = string(events.ActorProcess)
		return out
	}
	_, who := actingOf(r.Entry)
	out.Actor = httpapi.AuditActor{
		ID: null.Of(m.Actor.ID), Kind: httpapi.ActorKind(string(m.Actor.Kind)), Role: null.Of(m.Actor.Role),
		Name: null.Of(r.names[who]),
	}
	out.IP, out.Action, out.Reason = null.Of(m.IP.Reveal()), m.Action, null.Of(m.Why())
	out.CorrelationID, out.CausationID = m.CorrelationID, null.Of(m.CausationID)
	out.Data, out.Change, out.More = r.Data, showChanges(r.Changes), r.More
	return out
}

// showChanges writes changes; none is an empty list.
func showChanges(list []historycases.Change) []historyChange {
	out := make([]historyChange, len(list))
	for i, c := range list {
		out[i] = historyChange(c)
	}
	return out
}

// zone is where the days of the host are.
func (a History) zone(ctx context.Context, c *httpapi.Call) (*time.Location, error) {
	if c.Org.ID.IsZero() {
		return time.UTC, nil
	}
	return a.Zone(ctx, c.Org.ID)
}

// instant reads a past instant; now without one.
func (a History) instant(f *httpapi.Filters, name string, zone *time.Location) time.Time {
	now := a.Clock.Now()
	at := f.Instant(name, zone)
	if at.IsZero() {
		return now
	}
	if at.After(now) {
		f.Add(name, "must not be in the future")
	}
	return at
}

// state answers with the state at an instant.
func (a History) state(ctx context.Context, c *httpapi.Call) error {
	zone, err := a.zone(ctx, c)
	if err != nil {
		return err
	}
	f := c.Filters()
	at := a.instant(f, "at", zone)
	if err := f.Err(); err != nil {
		return err
	}
	h, err := a.open(ctx, c)
	if err != nil {
		return err
	}
	look := historycases.Look{Kind: events.LookState, Until: at}
	if err := a.Cases.Record(ctx, a.reader(c), h, look); err != nil {
		return err
	}
	was, err := h.At(ctx, at)
	if err != nil {
		return err
	}
	return c.Send(http.StatusOK, historyState{
		Type: h.Category, ID: h.ID, At: at, Revision: int64(was.Number), //nolint:gosec // it fits
		LastAt: was.LastAt.UTC(), State: was.Fields,
	})
}

// diff answers with what differs between two instants.
func (a History) diff(ctx context.Context, c *httpapi.Call) error {
	zone, err := a.zone(ctx, c)
	if err != nil {
		return err
	}
	f := c.Filters()
	given := f.Text("from") != ""
	from, to := a.instant(f, "from", zone), a.instant(f, "to", zone)
	switch {
	case f.Err() != nil:
	case !given:
		f.Add("from", "is required")
	case from.After(to):
		f.Add("from", "must not be after to")
	}
	if err := f.Err(); err != nil {
		return err
	}
	h, err := a.open(ctx, c)
	if err != nil {
		return err
	}
	look := historycases.Look{Kind: events.LookDifference, From: from, Until: to}
	if err := a.Cases.Record(ctx, a.reader(c), h, look); err != nil {
		return err
	}
	d, err := h.Between(ctx, from, to)
	if err != nil {
		return err
	}
	out := historyDifference{
		Type: h.Category, ID: h.ID, From: from, To: to, Change: showChanges(d.Changes), More: d.More,
		ToRevision: int64(d.To.Number), //nolint:gosec // it fits
	}
	if d.From != nil {
		was := int64(d.From.Number) //nolint:gosec // it fits
		out.FromRevision = &was
	}
	return c.Send(http.StatusOK, out)
}
