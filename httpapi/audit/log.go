// Package auditapi serves the audit log and the outbox.
package auditapi

import (
	"context"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/audit"
)

// Log serves /audit-log.
type Log struct {
	Log auditviews.LogQuery
	// Zone is where the days of an organization begin and end; on the root host they are those of UTC.
	Zone func(context.Context, id.Organization) (*time.Location, error)
	// Names gives what people call some targets of one type in an organization. One without a name is left out.
	Names func(ctx context.Context, org id.Organization, kind string, targets []id.Any) (map[id.Any]string, error)
	// Organizations names some organizations, for the root host. One that is not known is left out.
	Organizations func(ctx context.Context, orgs []id.Organization) (map[id.Organization]Organization, error)
}

// Organization has what an organization is called. Several can have the same name, and none the slug of another.
type Organization struct{ Name, Slug string }

// auditEntry is one entry of the audit log (docs/rules/audit.md#audit-entries).
type auditEntry struct {
	ID        id.Any             `json:"id"`
	At        time.Time          `json:"at"`
	OrgID     *string            `json:"orgId" doc:"null: the platform's own"`
	OrgName   *string            `json:"orgName" doc:"on the root host alone; null: the platform's own"`
	OrgSlug   *string            `json:"orgSlug" doc:"as orgName; names need not be unique, slugs are"`
	Actor     httpapi.AuditActor `json:"actor"`
	IP        *string            `json:"ip" doc:"null: none, or the person was forgotten"`
	Action    string             `json:"action" doc:"command, such as billing.VoidInvoice; of a refusal the route"`
	Target    auditTarget        `json:"target"`
	Outcome   string             `json:"outcome" enum:"succeeded,refused,failed"`
	RequestID string             `json:"requestId"`
	Detail    auditDetail        `json:"detail"`
}

// auditTarget names the thing that was acted on.
type auditTarget struct {
	Type string  `json:"type"`
	ID   *string `json:"id"`
	Name *string `json:"name" doc:"as it is called now; null: it has none, or was forgotten, and on the root host"`
}

// auditDetail has the recorded facts of an entry; of a write to a router, also its resource and values.
type auditDetail struct {
	Events        []string `json:"events" doc:"types of the events that were recorded"`
	CorrelationID string   `json:"correlationId" doc:"the same in all entries that follow from one request"`
	Reason        string   `json:"reason,omitempty"`
	Code          string   `json:"code,omitempty" doc:"of the failure, when the write did not happen"`
	Status        int      `json:"status,omitempty" doc:"of the failure, when the write did not happen"`
	Count         int      `json:"count,omitempty" doc:"refusals that it stands for; the rest is of the last"`

	// The fields from here on belong to a write to a router.
	Path      string            `json:"path,omitempty" doc:"menu of the router that was written"`
	Operation string            `json:"operation,omitempty" enum:"add,set,remove,move,change_rate,end"`
	Name      string            `json:"name,omitempty" doc:"of the resource on the router"`
	Before    map[string]string `json:"before,omitempty" doc:"what changed, as it was; all of it when removed"`
	After     map[string]string `json:"after,omitempty"`
	Found     bool              `json:"found,omitempty" doc:"the answer was lost, the router was found to have it"`
	ServiceID *id.Service       `json:"serviceId,omitempty"`
	RunID     *id.Run           `json:"runId,omitempty"`
	Message   string            `json:"message,omitempty" doc:"of a write that the router refused: its own words"`
}

// outcomes are those by which the log can be filtered.
var outcomes = []string{auditviews.Succeeded, auditviews.Refused, auditviews.Failed}

// parameters are the filters of the log; days says whose days dates are.
func parameters(days string) []httpapi.Param {
	return []httpapi.Param{
		{Name: "actor", Type: "string", Doc: "id of the user or API key, or name of the process"},
		{Name: "action", Type: "string", Doc: "a command, such as billing.VoidInvoice; router.write; " +
			"of a refusal method and route, such as POST /receipts/:id/reverse"},
		{
			Name: "target", Type: "string",
			Doc: "type, such as account, id, or type:id; not the number of an account or " +
				"invoice",
		},
		{Name: "outcome", Type: "string", Enum: outcomes, Doc: "what came of it"},
		{Name: "from", Type: "date-time", Doc: "at or after; a date means its beginning " + days},
		{Name: "to", Type: "date-time", Doc: "before; a date means its end " + days},
	}
}

// Routes lists the endpoints.
func (a Log) Routes() []httpapi.Route {
	route := httpapi.Route{
		Method: http.MethodGet, Path: "/audit-log", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
		Query: parameters("in the organization's zone"), Row: auditEntry{},
		Summary: "Who did what, when, from where and with what outcome, newest first", Handle: a.list,
	}
	platform := route
	platform.Hosts, platform.Access = httpapi.OnRoot, httpapi.AccessSuperAdmin
	platform.Query = append(parameters("in UTC"), httpapi.Param{
		Name: "orgId", Type: "uuid", Doc: "entries of this organization, without the platform's own",
	})
	one := httpapi.Route{
		Method: http.MethodGet, Path: "/audit-log/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
		Summary: "Read one entry of the audit log", Response: auditEntry{}, Handle: a.get,
	}
	ofAll := one
	ofAll.Hosts, ofAll.Access = httpapi.OnRoot, httpapi.AccessSuperAdmin
	return []httpapi.Route{route, platform, one, ofAll}
}

// get answers with one entry.
func (a Log) get(ctx context.Context, c *httpapi.Call) error {
	missing := func() error {
		return failure.NewNotFound("audit_entry_not_found", "There is no such entry in the audit log.")
	}
	entry, err := httpapi.PathID[id.Any](c, "id", missing)
	if err != nil {
		return err
	}
	row, err := a.Log.Get(ctx, c.Org.ID, entry)
	if err != nil {
		return err
	}
	if row == nil {
		return missing()
	}
	called, err := a.called(ctx, c.Org.ID, []auditviews.Entry{*row})
	if err != nil {
		return err
	}
	return c.Send(200, showAuditEntry(*row, called))
}

// called has what people call the things in some entries: on an organization's host their targets, on the root host
// their organizations.
type called struct {
	targets map[id.Any]string // and of API keys that acted; ids are unique over all types
	orgs    map[id.Organization]Organization
}

// called reads the names for some entries of one host. The platform does not learn what organizations call their
// customers.
func (a Log) called(ctx context.Context, org id.Organization, entries []auditviews.Entry) (out called, err error) {
	if !org.IsZero() {
		out.targets, err = a.names(ctx, org, entries)
		return out, err
	}
	var orgs []id.Organization
	for _, e := range entries {
		if !e.OrgID.IsZero() && !slices.Contains(orgs, e.OrgID) {
			orgs = append(orgs, e.OrgID)
		}
	}
	if len(orgs) > 0 {
		out.orgs, err = a.Organizations(ctx, orgs)
	}
	return out, err
}

// keyTarget is the type of targets that are API keys.
const keyTarget = "apikey"

// names gives what the targets of some entries are called, and the API keys that acted.
func (a Log) names(
	ctx context.Context, org id.Organization, entries []auditviews.Entry,
) (map[id.Any]string, error) {
	of := map[string][]id.Any{}
	need := func(kind string, target id.Any) {
		if !target.IsZero() && !slices.Contains(of[kind], target) {
			of[kind] = append(of[kind], target)
		}
	}
	for _, e := range entries {
		need(e.TargetType, e.TargetID)
		need(keyTarget, actingKey(e))
	}
	out := map[id.Any]string{}
	for kind, targets := range of {
		found, err := a.Names(ctx, org, kind, targets)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, found)
	}
	return out, nil
}

// actingKey is the API key that acted; zero when none did.
func actingKey(e auditviews.Entry) id.Any {
	if e.ActorKind != string(events.ActorAPIKey) {
		return id.Any{}
	}
	key, _ := id.Parse[id.Any](e.ActorID) // zero when it is none
	return key
}

// actorName is the name of the person or the API key that acted; nil when it is not known.
func actorName(e auditviews.Entry, names called) *string {
	if key := actingKey(e); !key.IsZero() {
		return null.Of(names.targets[key])
	}
	return e.ActorName
}

// list answers with the entries of the host's organization, newest first; on the root host with those of all.
func (a Log) list(ctx context.Context, c *httpapi.Call) error {
	zone := time.UTC
	if !c.Org.ID.IsZero() {
		var err error
		if zone, err = a.Zone(ctx, c.Org.ID); err != nil {
			return err
		}
	}
	f := c.Filters()
	of := httpapi.FilterID[id.Organization](f, "orgId") // the root host alone has it
	filter, err := auditFilter(f, zone)
	if err != nil {
		return err
	}
	var names called // on the page
	show := func(e auditviews.Entry) auditEntry { return showAuditEntry(e, names) }
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after auditviews.Key, max int,
	) (rows []auditviews.Entry, err error) {
		if c.Org.ID.IsZero() {
			rows, err = a.Log.OfAll(ctx, of, filter, after, max)
		} else {
			rows, err = a.Log.OfOrganization(ctx, c.Org.ID, filter, after, max)
		}
		if err == nil {
			names, err = a.called(ctx, c.Org.ID, rows)
		}
		return rows, err
	})
}

// Forms of what entries have. A text of another form is refused: an empty list would look as if nobody had acted.
var (
	actorShape  = regexp.MustCompile(`^[a-z][a-z0-9 _-]*$`) // of a process; users and API keys have ids
	actionShape = regexp.MustCompile(`^([a-z]+\.[A-Za-z]+|[A-Z]+ /\S*)$`)
	targetShape = regexp.MustCompile(`^[a-z][a-z_-]*$`) // the type
)

// auditFilter reads the filters of the log; a date is a day of the zone.
func auditFilter(f *httpapi.Filters, zone *time.Location) (auditviews.Filter, error) {
	filter := auditviews.Filter{
		Actor: f.Text("actor"), Action: f.Text("action"), Outcome: f.OneOf("outcome", outcomes...),
		From: f.Instant("from", zone), To: f.End("to", zone),
	}
	if actor, err := id.Parse[id.Any](filter.Actor); err == nil {
		filter.Actor = actor.String()
	} else if filter.Actor != "" && !actorShape.MatchString(filter.Actor) {
		f.Add("actor", "must be the id of a user, or the name of a process")
	}
	if filter.Action != "" && !actionShape.MatchString(filter.Action) {
		f.Add("action", "must be a command such as billing.VoidInvoice, router.write, "+
			"or method and route of a refusal such as POST /receipts/:id/reverse")
	}
	filter.TargetType, filter.TargetID = auditTargetFilter(f)
	return filter, f.Err()
}

// auditTargetFilter reads the target: a type, an id, or type:id. Zero values mean any.
func auditTargetFilter(f *httpapi.Filters) (kind string, target id.Any) {
	text := f.Text("target")
	if text == "" {
		return "", target
	}
	if only, err := id.Parse[id.Any](text); err == nil {
		return "", only
	}
	kind, rest, both := strings.Cut(text, ":")
	var err error
	if both {
		target, err = id.Parse[id.Any](rest)
	}
	if err != nil || !targetShape.MatchString(kind) {
		f.Add("target", "must be a type such as account, an id, or type:id")
	}
	return kind, target
}

// showAuditEntry writes times in UTC, and null for what the entry does not have.
func showAuditEntry(e auditviews.Entry, names called) auditEntry {
	detail := auditDetail{
		Events: e.Events, CorrelationID: e.CorrelationID, Reason: e.Reason, Code: e.Code, Status: e.Status,
		Count: e.Refusals,
	}
	if d := e.Detail; d != nil {
		detail.Path, detail.Operation, detail.Name, detail.Before, detail.After, detail.Found = d.Path, d.Operation,
			d.Name, d.Before, d.After, d.Found
		detail.ServiceID, detail.RunID, detail.Message = null.Of(d.ServiceID), null.Of(d.RunID), d.Message
	}
	return auditEntry{
		ID: e.ID, At: e.At.UTC(), OrgID: null.Of(e.OrgID.String()),
		OrgName: null.Of(names.orgs[e.OrgID].Name), OrgSlug: null.Of(names.orgs[e.OrgID].Slug),
		Actor: httpapi.AuditActor{
			ID: null.Of(e.ActorID), Kind: httpapi.ActorKind(e.ActorKind), Name: actorName(e, names),
			Role: null.Of(e.ActorRole),
		},
		IP: e.IP, Action: e.Action, Outcome: e.Outcome, RequestID: e.RequestID, Detail: detail,
		Target: auditTarget{
			Type: e.TargetType, ID: null.Of(e.TargetID.String()), Name: null.Of(names.targets[e.TargetID]),
		},
	}
}
