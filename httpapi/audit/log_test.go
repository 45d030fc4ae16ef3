package auditapi_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/aggregates/audit"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/audit"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/audit"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// auditStage is a server whose refusals reach the audit log through a real event log and projection.
type auditStage struct {
	*apitest.Kit
	core  *coretest.Kit
	views *runner.Views
	days  *time.Location // nil = UTC
}

// zone gives every organization the days of the stage.
func (s *auditStage) zone(context.Context, id.Organization) (*time.Location, error) {
	return cmp.Or(s.days, time.UTC), nil
}

// names calls every target by the beginning of its id.
func (s *auditStage) names(
	_ context.Context, _ id.Organization, kind string, targets []id.Any,
) (map[id.Any]string, error) {
	out := map[id.Any]string{}
	for _, target := range targets {
		out[target] = kind + " " + target.String()[:8]
	}
	return out, nil
}

// organizations calls every organization by the beginning of its id.
func (s *auditStage) organizations(
	_ context.Context, orgs []id.Organization,
) (map[id.Organization]auditapi.Organization, error) {
	out := map[id.Organization]auditapi.Organization{}
	for _, org := range orgs {
		out[org] = auditapi.Organization{Name: "org " + org.String()[:8], Slug: "org-" + org.String()[:8]}
	}
	return out, nil
}

// newAuditStage starts log, projection and server, with the endpoints of the area p and of the audit log.
func newAuditStage(t *testing.T, p *apitest.Parcels) *auditStage {
	t.Helper()
	s := &auditStage{core: coretest.New(t, clock.System(), auditviews.Log{})}
	s.views = s.core.Show(t)
	bus.Register(s.core.Bus, audit.Refusals())
	s.Kit = apitest.New(t, func(cfg *httpapi.Config) { cfg.Refusals = httpapi.BusRefusals{Bus: s.core.Bus} },
		p.Routes(), auditapi.Log{
			Log: auditviews.LogQuery{Views: s.views}, Zone: s.zone, Names: s.names, Organizations: s.organizations,
		}.Routes())
	return s
}

// line is an entry of the audit log as a client reads it.
type line struct {
	ID             string
	At             time.Time
	Actor          struct{ ID, Kind, Name, Role *string }
	IP             *string
	OrgID, OrgName *string
	OrgSlug        *string
	Action, Outcome,
	RequestID string
	Target struct {
		Type     string
		ID, Name *string
	}
	Detail struct {
		Events []string
		Code   string
		Status int
	}
}

// log reads a page of the audit log, once it shows the whole event log.
func (s *auditStage) log(t *testing.T, r apitest.Request) httpapi.Envelope[line] {
	t.Helper()
	s.core.WaitForAll(t, s.views, auditviews.LogName)
	var out httpapi.Envelope[line]
	got := s.Do(t, r)
	if got.Status != 200 {
		t.Fatalf("%s: %d %s", r.Path, got.Status, got.Body)
	}
	got.Into(t, &out)
	return out
}

func TestAuditLog_ShowsRefusedWritesOfTheTenant(t *testing.T) {
	t.Parallel()
	p := apitest.NewParcels()
	p.Refuse = failure.NewConflict("parcel_locked", "Locked.")
	s := newAuditStage(t, p)
	post := apitest.Request{
		Method: "POST", Path: "/parcels", As: apitest.Admin, Body: apitest.Good, Header: map[string]string{
			"X-Request-Id": "the-request",
		},
	}
	s.Do(t, post)                                                                            // 409
	s.Do(t, apitest.Request{Method: "DELETE", Path: apitest.AParcel, As: apitest.Support})   // 403
	s.Do(t, apitest.Request{Method: "POST", Path: "/parcels", As: apitest.Admin, Body: "{"}) // 400, not recorded
	s.Do(t, apitest.Request{Path: apitest.AParcel, As: apitest.Admin})                       // not recorded
	s.Do(t, apitest.Request{Method: "POST", Path: "/parcels", Body: apitest.Good})           // 401, not recorded
	got := s.log(t, apitest.Request{Path: "/audit-log", As: apitest.Support})
	if len(got.Data) != 2 {
		t.Fatalf("the log has %+v", got.Data)
	}
	denied, refused := got.Data[0], got.Data[1]
	if denied.Action != "DELETE /parcels/:id" || denied.Detail.Status != 403 || denied.Detail.Code != "role_required" ||
		denied.Outcome != "refused" ||
		denied.Target.Type != "parcels" || denied.Target.ID == nil ||
		!strings.HasSuffix(apitest.AParcel, *denied.Target.ID) ||
		*denied.Actor.Role != "support" {
		t.Errorf("denied: %+v", denied)
	}
	if refused.RequestID != "the-request" || refused.Detail.Code != "parcel_locked" || *refused.IP != "127.0.0.1" ||
		*refused.Actor.Kind != "user" ||
		*refused.Actor.ID != s.Callers[apitest.Admin].UserID.String() ||
		!slices.Equal(refused.Detail.Events, []string{"audit.RequestRefused.v2"}) {
		t.Errorf("refused: %+v", refused)
	}
	if want := "parcels " + (*denied.Target.ID)[:8]; denied.Target.Name == nil || *denied.Target.Name != want {
		t.Errorf("the target is called %v, want %s", denied.Target.Name, want)
	}
	s.wantOne(t, denied.ID)
	if other := s.log(t, apitest.Request{Path: "/audit-log", As: apitest.OtherAdmin,
		Host: apitest.Other}); len(other.Data) != 0 {
		t.Errorf("another tenant sees %+v", other.Data)
	}
	if all := s.log(t, apitest.Request{Path: "/audit-log", As: apitest.Super,
		Host: apitest.Domain}); len(all.Data) != 2 {
		t.Errorf("the platform sees %+v", all.Data)
	}
}

// wantOne reads one entry by its id, which another organization does not have, and which has no names for the platform.
func (s *auditStage) wantOne(t *testing.T, entry string) {
	t.Helper()
	path := "/audit-log/" + entry
	var one line
	got := s.Do(t, apitest.Request{Path: path, As: apitest.Support})
	if got.Into(t, &one); got.Status != 200 || one.ID != entry || one.Target.Name == nil {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	got = s.Do(t, apitest.Request{Path: path, As: apitest.Super, Host: apitest.Domain})
	if got.Into(t, &one); got.Status != 200 || one.ID != entry || one.Target.Name != nil {
		t.Errorf("platform: %d %s", got.Status, got.Body)
	}
	for name, r := range map[string]apitest.Request{
		"another organization": {Path: path, As: apitest.OtherAdmin, Host: apitest.Other},
		"no such entry":        {Path: "/audit-log/" + uuid.Nil.String(), As: apitest.Support},
		"no id":                {Path: "/audit-log/x", As: apitest.Support},
	} {
		apitest.Sends(t, s.Kit, name, r, apitest.Is(404, "audit_entry_not_found"))
	}
	apitest.Sends(t, s.Kit, "subscriber", apitest.Request{Path: path, As: apitest.Subscriber},
		apitest.Is(403, "role_required"))
}

// On the root host entries name their organization, and the log of one can be asked for.
func TestAuditLog_ThePlatformReadsWhoseAnEntryIs(t *testing.T) {
	t.Parallel()
	p := apitest.NewParcels()
	p.Refuse = failure.NewConflict("parcel_locked", "Locked.")
	s := newAuditStage(t, p)
	for as, host := range map[string]string{apitest.Admin: apitest.Acme, apitest.OtherAdmin: apitest.Other} {
		s.Do(t, apitest.Request{Method: "POST", Path: "/parcels", As: as, Host: host, Body: apitest.Good})
	}
	root := func(query string) apitest.Request {
		return apitest.Request{Path: "/audit-log" + query, As: apitest.Super, Host: apitest.Domain}
	}
	if all := s.log(t, root("")); len(all.Data) != 2 {
		t.Errorf("the platform sees %+v", all.Data)
	}
	acme := s.Callers[apitest.Admin].OrgID.String()
	of := s.log(t, root("?orgId="+acme)).Data
	if len(of) != 1 || *of[0].OrgID != acme || of[0].OrgName == nil || *of[0].OrgName != "org "+acme[:8] {
		t.Fatalf("of one organization the platform sees %+v", of)
	}
	var one line
	got := s.Do(t, root("/"+of[0].ID))
	if got.Into(t, &one); one.OrgName == nil || *one.OrgName != "org "+acme[:8] ||
		one.OrgSlug == nil || *one.OrgSlug != "org-"+acme[:8] {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if none := s.log(t, root("?orgId="+id.New[id.Organization]().String())); len(none.Data) != 0 {
		t.Errorf("of no organization the platform sees %+v", none.Data)
	}
	apitest.Sends(t, s.Kit, "no id", root("?orgId=acme"), apitest.Is(422, "invalid_input"))
	at := apitest.Request{Path: "/audit-log", As: apitest.Admin}
	if own := s.log(t, at).Data; len(own) != 1 || own[0].OrgName != nil || own[0].OrgSlug != nil {
		t.Errorf("the organization sees %+v", own)
	}
	at.Path += "?orgId=" + acme
	apitest.Sends(t, s.Kit, "on its own host", at, apitest.Is(400, "unknown_parameter"))
}

func TestAuditLog_RetriedRefusalIsEachShown(t *testing.T) {
	t.Parallel()
	p := apitest.NewParcels()
	p.Refuse = failure.NewConflict("parcel_locked", "Locked.")
	s := newAuditStage(t, p)
	for range 2 {
		apitest.Sends(t, s.Kit, "refused", apitest.Keyed("k", apitest.Good), apitest.Is(409, "parcel_locked"))
	}
	if got := s.log(t, apitest.Request{Path: "/audit-log", As: apitest.Admin}); len(got.Data) != 2 {
		t.Errorf("the log has %+v", got.Data)
	}
}

func TestAuditLog_WhatWasRecordedWithoutAnActorIsOfAProcess(t *testing.T) {
	t.Parallel()
	s := newAuditStage(t, apitest.NewParcels())
	org := s.Callers[apitest.Admin].OrgID
	_, err := s.core.Store.Append(t.Context(), "payoutage-"+org.String(), eventstore.NoStream, []eventstore.New{{
		Event: events.PaymentsInterrupted{OrgID: org, Evidence: "no_receipts"},
		Meta: events.Metadata{
			EventID: id.New[id.Event](), CommandID: id.New[id.Command](), OrgID: org,
			Action: "access.InterruptPayments",
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := s.log(t, apitest.Request{Path: "/audit-log", As: apitest.Support})
	if len(got.Data) != 1 || *got.Data[0].Actor.Kind != "process" || got.Data[0].Actor.ID != nil {
		t.Errorf("the log has %+v", got.Data)
	}
}

func TestAuditLog_FiltersPagesAndRights(t *testing.T) {
	t.Parallel()
	p := apitest.NewParcels()
	p.Refuse = failure.NewConflict("parcel_locked", "Locked.")
	s := newAuditStage(t, p)
	for range 5 {
		s.Do(t, apitest.Request{Method: "POST", Path: "/parcels", As: apitest.Admin, Body: apitest.Good})
	}
	s.Do(t, apitest.Request{Method: "DELETE", Path: apitest.AParcel, As: apitest.Support})
	parcel := strings.TrimPrefix(apitest.AParcel, "/parcels/")
	for query, n := range map[string]int{
		"": 6, "actor=" + s.Callers[apitest.Support].UserID.String(): 1, "action=POST%20/parcels": 5,
		"target=parcels": 6, "target=parcels:" + parcel: 1, "target=" + parcel: 1, "target=invoices": 0,
		"outcome=refused": 6, "outcome=failed": 0, "outcome=succeeded": 0,
		"from=2100-01-01": 0, "to=2020-01-01T00:00:00Z": 0,
	} {
		if got := s.log(t, apitest.Request{Path: "/audit-log?" + query, As: apitest.Admin}); len(got.Data) != n {
			t.Errorf("%q: %d entries, want %d", query, len(got.Data), n)
		}
	}
	seen, next := map[string]bool{}, ""
	for range 10 {
		got := s.log(t, apitest.Request{Path: "/audit-log?limit=2" + next, As: apitest.Admin})
		for _, l := range got.Data {
			seen[l.ID] = true
		}
		if !got.HasMore {
			break
		}
		next = "&cursor=" + *got.NextCursor
	}
	if len(seen) != 6 {
		t.Errorf("paged through %d entries", len(seen))
	}
	for query, w := range map[string]apitest.Want{
		"from=yesterday": apitest.Is(422, "invalid_input"), "target=x:y": apitest.Is(422, "invalid_input"),
		"cursor=x": apitest.Is(400, "bad_cursor"), "limit=0": apitest.Is(422, "invalid_input"),
		"actor=%00": apitest.Is(422, "invalid_input"), "outcome=good": apitest.Is(422, "invalid_input"),
	} {
		apitest.Sends(t, s.Kit, query, apitest.Request{Path: "/audit-log?" + query, As: apitest.Admin}, w)
	}
	apitest.Sends(t, s.Kit, "subscriber", apitest.Request{Path: "/audit-log", As: apitest.Subscriber},
		apitest.Is(403, "role_required"))
	apitest.Sends(t, s.Kit, "admin on root", apitest.Request{
		Path: "/audit-log", As: apitest.Admin, Host: apitest.Domain,
	},
		apitest.Is(401, "unauthenticated"))
}

// The days of the audit log are those of every other list. What was done now is on today's list where the organization
// is, and on the root host on that of UTC.
func TestAuditLog_DatesAreDaysOfTheOrganization(t *testing.T) {
	t.Parallel()
	p := apitest.NewParcels()
	p.Refuse = failure.NewConflict("parcel_locked", "Locked.")
	s := newAuditStage(t, p)
	s.Do(t, apitest.Request{Method: "POST", Path: "/parcels", As: apitest.Admin, Body: apitest.Good})
	at := s.log(t, apitest.Request{Path: "/audit-log", As: apitest.Admin}).Data[0].At
	// A whole day from UTC, so that it is another date there at any time of the day.
	for _, hours := range []int{-24, 24} {
		s.days = time.FixedZone("far", hours*60*60)
		there := at.In(s.days).Format(time.DateOnly)
		for host, as := range map[string]string{apitest.Acme: apitest.Admin, apitest.Domain: apitest.Super} {
			for date, n := range map[string]int{there: 1, at.Format(time.DateOnly): 0} {
				if host == apitest.Domain {
					n = 1 - n
				}
				got := s.log(t, apitest.Request{Path: "/audit-log?from=" + date + "&to=" + date, As: as, Host: host})
				if len(got.Data) != n {
					t.Errorf("%s, %d hours from UTC, on %s: %+v", host, hours, date, got.Data)
				}
			}
		}
	}
}

// An empty list would look as if nobody had acted.
func TestAuditLog_AFormThatNoEntryHasIsRefused(t *testing.T) {
	t.Parallel()
	s := newAuditStage(t, apitest.NewParcels())
	for _, query := range []string{
		"action=VoidInvoice", "action=billing.", "action=billing%20VoidInvoice", "actor=admin@acme.example",
		"actor=Amina", "target=DEMO-0001", "target=:" + id.New[id.Invoice]().String(), "target=invoice:DEMO-0001",
	} {
		apitest.Sends(t, s.Kit, query, apitest.Request{Path: "/audit-log?" + query, As: apitest.Admin},
			apitest.Is(422, "invalid_input"))
	}
	for _, query := range []string{
		"action=billing.VoidInvoice", "action=POST%20/receipts/:id/reverse", "action=router.write", "actor=receipts",
		"actor=proof%20of%20an%20address", "actor=" + strings.ToUpper(id.New[id.User]().String()), "target=account",
	} {
		s.log(t, apitest.Request{Path: "/audit-log?" + query, As: apitest.Admin})
	}
}

func TestAuditLog_RefusalThatCannotBeRecordedIsAnsweredAllTheSame(t *testing.T) {
	t.Parallel()
	p := apitest.NewParcels()
	p.Refuse = failure.NewConflict("parcel_locked", "Locked.")
	k := apitest.New(t, func(cfg *httpapi.Config) { cfg.Refusals = brokenRefusals{} }, p.Routes())
	apitest.Sends(t, k, "refused", apitest.Request{
		Method: "POST", Path: "/parcels", As: apitest.Admin, Body: apitest.Good,
	},
		apitest.Is(409, "parcel_locked"))
	if !strings.Contains(k.Log.String(), "refusal not recorded") {
		t.Error("nothing in the log")
	}
}

// brokenRefusals is a Refusals that cannot record.
type brokenRefusals struct{}

// Note always fails.
func (brokenRefusals) Note(context.Context, httpapi.Refusal, commands.Meta) error {
	return fmt.Errorf("no log")
}
