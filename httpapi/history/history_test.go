package historyapi_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// happened is an event of a history as a client reads it.
type happened struct {
	Revision   int64
	Type       string
	At         time.Time
	Action     string
	Reason, IP *string
	Actor      struct {
		Kind           string
		ID, Role, Name *string
	}
	CorrelationID string
	Hidden        bool
	Data          map[string]any
	Change        []change
}

// change is one field that changed.
type change struct {
	Field    string
	From, To any
}

// kit has a customer who was registered, corrected and blocked, a minute apart.
type kit struct {
	*isptest.Kit
	admin, support, customer string
	began                    time.Time
}

// newKit makes the customer.
func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{Kit: isptest.New(t)}
	k.admin, k.support = k.Admin(t), k.SignIn(t, apitest.Acme, isptest.SupportEmail).AccessToken
	k.began = k.Clock.Now()
	k.customer = k.Register(t, k.admin, isptest.Amina()).ID
	k.Clock.Advance(time.Minute)
	k.Want(t, 200, "", isptest.Patch(k.admin, "/subscribers/"+k.customer, map[string]any{"lastName": "Njeri"}))
	k.Clock.Advance(time.Minute)
	k.Want(t, 200, "", isptest.Post(k.admin, "/subscribers/"+k.customer+"/block", map[string]any{
		"reason": "asked by Amina",
	}))
	k.Clock.Advance(time.Minute)
	return k
}

// page reads a page of events, with the cursor of the next; "" = there is none.
func (k *kit) page(t *testing.T, path string) (list []happened, next string) {
	t.Helper()
	var page struct {
		Data       []happened
		NextCursor *string
	}
	k.Want(t, 200, "", isptest.Get(k.support, path)).Into(t, &page)
	if page.NextCursor != nil {
		next = *page.NextCursor
	}
	return page.Data, next
}

// types are those of events, in their order.
func types(list []happened) (out []string) {
	for _, e := range list {
		out = append(out, strings.TrimPrefix(e.Type, "subscribers."))
	}
	return out
}

// looks gives the looks at histories that were recorded, as "category look".
func (k *kit) looks(t *testing.T) (out []events.HistoryRead, metas []events.Metadata) {
	t.Helper()
	list, _, err := k.Core.Store.ReadAll(t.Context(), 0, 1000, []string{events.HistoryRead{}.EventType()})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		read, _ := e.Event.(events.HistoryRead)
		out, metas = append(out, read), append(metas, e.Meta)
	}
	return out, metas
}

// registered, corrected and blocked are the three events of the customer.
var threeEvents = []string{"SubscriberRegistered", "SubscriberDetailsCorrected", "SubscriberBlocked"}

func TestHistory_TellsWhoDidWhatWhyAndWhatItChanged(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	list, _ := k.page(t, "/history/subscriber/"+k.customer)
	if diff := cmp.Diff(threeEvents, types(list)); diff != "" {
		t.Fatalf("events (-want +have)\n%s", diff)
	}
	block := list[2]
	if block.Action != "subscribers.BlockSubscriber" || block.Reason == nil || *block.Reason != "asked by Amina" ||
		block.Actor.Kind != "user" || block.Actor.ID == nil ||
		*block.Actor.ID != k.Users[isptest.AdminEmail].String() ||
		block.Actor.Name == nil || *block.Actor.Name != "ADA" || block.Actor.Role == nil ||
		block.IP == nil || block.CorrelationID == "" || !block.At.Equal(k.began.Add(2*time.Minute)) {
		t.Errorf("who, when and why: %+v", block)
	}
	if block.Data["reason"] != "asked by Amina" {
		t.Errorf("what was recorded: %v", block.Data)
	}
	details, _ := list[0].Data["details"].(map[string]any)
	if details["firstName"] != "Amina" || details["phone"] != "+254712345678" {
		t.Errorf("personal texts are plain for support: %v", details)
	}
	if !slices.Contains(block.Change, change{"blocked", false, true}) {
		t.Errorf("the block changed %v", block.Change)
	}
	for _, e := range list {
		for _, c := range e.Change {
			if cmp.Equal(c.From, c.To) {
				t.Errorf("%s did not change %v", e.Type, c)
			}
		}
	}
}

func TestHistory_IsReadInPagesFromBothEndsAndAfterARevision(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	path := "/history/subscriber/" + k.customer
	newest := slices.Clone(threeEvents)
	slices.Reverse(newest)
	for order, want := range map[string][]string{"oldest": threeEvents, "newest": newest} {
		var got []string
		for cursor := ""; len(got) < 10; {
			list, next := k.page(t, path+"?limit=1&order="+order+cursor)
			if got = append(got, types(list)...); next == "" {
				break
			}
			cursor = "&cursor=" + next
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +have)\n%s", order, diff)
		}
	}
	if list, _ := k.page(t, path+"?after=0"); !slices.Equal(types(list), threeEvents[1:]) || list[0].Revision != 1 {
		t.Errorf("after 0: %+v", list)
	}
	if list, next := k.page(t, path+"?after=2"); len(list) != 0 || next != "" {
		t.Errorf("after the last: %+v", list)
	}
	for _, wrong := range []string{
		"after=-1", "after=x", "after=1&order=newest", "order=x", "limit=101", "after=1&after=2",
	} {
		k.Want(t, 422, "invalid_input", isptest.Get(k.support, path+"?"+wrong))
	}
}

// TestHistory_OfOthersIsNotFound: what another organization has is answered as what does not exist, and a kind that is
// not for organizations as one that does not exist.
func TestHistory_OfOthersIsNotFound(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	olga := k.SignIn(t, "other."+apitest.Domain, isptest.OlgaEmail).AccessToken
	root := k.SignIn(t, apitest.Domain, isptest.RootEmail).AccessToken
	user := k.Users[isptest.SupportEmail].String()
	for _, rest := range []string{"", "/state", "/diff?from=2026-01-01"} {
		path := func(kind, of string) string { return "/history/" + kind + "/" + of + rest }
		other := func(path string) apitest.Request {
			return isptest.At("other."+apitest.Domain, isptest.Get(olga, path))
		}
		at := func(path string) apitest.Request { return isptest.At(apitest.Domain, isptest.Get(root, path)) }
		foreign := k.Want(t, 404, "subscriber_not_found", other(path("subscriber", k.customer)))
		unknown := k.Want(t, 404, "subscriber_not_found", other(path("subscriber", id.New[id.Any]().String())))
		if string(foreign.Body) != string(unknown.Body) {
			t.Errorf("%s and %s", foreign.Body, unknown.Body)
		}
		k.Want(t, 404, "subscriber_not_found", isptest.Get(k.support, path("subscriber", "x")))
		k.Want(t, 404, "plan_not_found", isptest.Get(k.support, path("plan", k.customer)))
		k.Want(t, 404, "organization_not_found", isptest.Get(k.support, path("organization", k.Other.String())))
		for _, kind := range []string{"user", "session", "claim", "nothing", "Subscriber", "%00"} {
			k.Want(t, 404, "history_type_not_found", isptest.Get(k.support, path(kind, user)))
		}
		k.Want(t, 200, "", isptest.Get(k.support, path("organization", k.Acme.String())))
		k.Want(t, 200, "", at(path("user", user)))
		k.Want(t, 200, "", at(path("organization", k.Acme.String())))
		k.Want(t, 404, "subscriber_not_found", at(path("subscriber", k.customer)))
		k.Want(t, 404, "history_type_not_found", at(path("claim", user)))
	}
}

// TestHistory_NeedsTheRoleThatReadsTheSameElsewhere: customers see nothing of it, support not what is for
// administrators, and whoever is refused is recorded.
func TestHistory_NeedsTheRoleThatReadsTheSameElsewhere(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	client := k.SignIn(t, apitest.Acme, isptest.ClientEmail).AccessToken
	var key struct{ ID string }
	k.Want(t, 201, "", isptest.Post(k.admin, "/api-keys", map[string]any{
		"name": "Books", "role": "support", "scopes": []string{"history:read"},
	})).Into(t, &key)
	for _, rest := range []string{"", "/state", "/diff?from=2026-01-01"} {
		k.Want(t, 403, "role_required", isptest.Get(client, "/history/subscriber/"+k.customer+rest))
		k.Want(t, 403, "role_required", isptest.Get(k.support, "/history/apikey/"+key.ID+rest))
		k.Want(t, 200, "", isptest.Get(k.admin, "/history/apikey/"+key.ID+rest))
		k.Want(t, 401, "unauthenticated", isptest.Get("", "/history/subscriber/"+k.customer+rest))
	}
	refused, _, err := k.Core.Store.ReadAll(t.Context(), 0, 100, []string{events.RequestRefused{}.EventType()})
	if err != nil || len(refused) != 6 {
		t.Fatalf("%d refusals, %v", len(refused), err)
	}
	first, _ := refused[0].Event.(events.RequestRefused)
	if first.Route != "/history/:type/:id" || first.Method != "GET" || first.TargetID.String() != k.customer ||
		refused[0].Meta.Actor.ID != k.Users[isptest.ClientEmail].String() {
		t.Errorf("recorded: %+v by %+v", first, refused[0].Meta.Actor)
	}
	if looks, _ := k.looks(t); len(looks) != 3 {
		t.Errorf("looks that were answered: %+v", looks)
	}
}

func TestHistory_EachLookIsRecordedBeforeItsAnswer(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	path := "/history/subscriber/" + k.customer
	at := k.began.Add(90 * time.Second)
	for _, rest := range []string{
		"", "/state?at=" + url.QueryEscape(at.Format(time.RFC3339)),
		"/diff?from=" + url.QueryEscape(k.began.Format(time.RFC3339)) +
			"&to=" + url.QueryEscape(at.Format(time.RFC3339)),
	} {
		k.Want(t, 200, "", isptest.Get(k.support, path+rest))
	}
	looks, metas := k.looks(t)
	want := []events.HistoryRead{
		{Look: events.LookEvents}, {Look: events.LookState, Until: at},
		{Look: events.LookDifference, From: k.began, Until: at},
	}
	if len(looks) != len(want) {
		t.Fatalf("looks: %+v", looks)
	}
	for i, l := range looks {
		if l.Look != want[i].Look || !l.From.Equal(want[i].From) || !l.Until.Equal(want[i].Until) ||
			l.Category != "subscriber" || l.TargetID.String() != k.customer || l.OrgID != k.Acme {
			t.Errorf("look %d: %+v", i, l)
		}
		if m := metas[i]; m.Actor.ID != k.Users[isptest.SupportEmail].String() || m.IP.IsZero() || m.RequestID == "" ||
			m.OrgID != k.Acme || m.Action != "audit.ReadHistory" {
			t.Errorf("who looked: %+v", m)
		}
	}
}

// state reads the customer as it was at an instant.
func (k *kit) state(t *testing.T, at time.Time) (revision int64, fields map[string]any) {
	t.Helper()
	var out struct {
		Revision int64
		State    map[string]any
	}
	k.Want(t, 200, "", isptest.Get(k.support, "/history/subscriber/"+k.customer+"/state?at="+
		url.QueryEscape(at.Format(time.RFC3339Nano)))).Into(t, &out)
	return out.Revision, out.State
}

func TestState_IsThatOfItsInstant(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for minute, blocked := range []bool{false, false, true} {
		for _, more := range []time.Duration{0, time.Second} {
			revision, fields := k.state(t, k.began.Add(time.Duration(minute)*time.Minute+more))
			if revision != int64(minute) || fields["blocked"] != blocked || fields["id"] != k.customer {
				t.Errorf("minute %d: %d %v", minute, revision, fields)
			}
		}
	}
	path := "/history/subscriber/" + k.customer + "/state?at="
	stamp := func(at time.Time) string { return url.QueryEscape(at.Format(time.RFC3339)) }
	k.Want(t, 404, "history_not_begun", isptest.Get(k.support, path+stamp(k.began.Add(-time.Second))))
	k.Want(t, 422, "invalid_input", isptest.Get(k.support, path+stamp(k.Clock.Now().Add(time.Second))))
	k.Want(t, 422, "invalid_input", isptest.Get(k.support, path+"yesterday"))
	var now struct{ Revision int64 }
	k.Want(t, 200, "", isptest.Get(k.support, strings.TrimSuffix(path, "?at="))).Into(t, &now)
	if now.Revision != 2 {
		t.Errorf("without an instant it is of now: %d", now.Revision)
	}
}

func TestDiff_IsWhatChangedBetweenTwoInstants(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	path := "/history/subscriber/" + k.customer + "/diff"
	stamp := func(at time.Time) string { return url.QueryEscape(at.Format(time.RFC3339)) }
	var out struct {
		FromRevision *int64
		ToRevision   int64
		Change       []change
	}
	k.Want(t, 200, "", isptest.Get(k.support, path+"?from="+stamp(k.began)+"&to="+stamp(k.Clock.Now()))).Into(t, &out)
	if out.FromRevision == nil || *out.FromRevision != 0 || out.ToRevision != 2 ||
		!slices.Contains(out.Change, change{"blocked", false, true}) {
		t.Errorf("from its beginning: %+v", out)
	}
	k.Want(t, 200, "", isptest.Get(k.support, path+"?from="+stamp(k.began.Add(-time.Hour)))).Into(t, &out)
	if out.FromRevision != nil || !slices.Contains(out.Change, change{"id", nil, k.customer}) {
		t.Errorf("from before its beginning: %+v", out)
	}
	for _, wrong := range []string{
		"", "?to=" + stamp(k.began), "?from=" + stamp(k.Clock.Now()) + "&to=" + stamp(k.began),
		"?from=" + stamp(k.Clock.Now().Add(time.Hour)), "?from=x",
	} {
		var body struct{ Faults []struct{ Field string } }
		k.Want(t, 422, "invalid_input", isptest.Get(k.support, path+wrong)).Into(t, &body)
		if len(body.Faults) != 1 || body.Faults[0].Field != "from" {
			t.Errorf("%q: %+v", wrong, body)
		}
	}
	before := stamp(k.began.Add(-time.Hour))
	k.Want(t, 404, "history_not_begun", isptest.Get(k.support, path+"?from="+before+"&to="+before))
}

// TestHistory_NoSecretIsInIt: that a password was replaced is told, and nothing that leads to it.
func TestHistory_NoSecretIsInIt(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	var sub struct {
		ID       string
		Password string
	}
	plan := k.Plan(t, k.admin, "home", "prepaid", "month")
	k.Want(t, 200, "", isptest.Post(k.admin, "/subscribers/"+k.customer+"/unblock", map[string]any{"reason": "paid"}))
	k.Want(t, 201, "", isptest.Post(k.admin, "/subscriptions", map[string]any{
		"subscriberId": k.customer, "planId": plan, "username": "amina", "password": "first-password-1",
	})).Into(t, &sub)
	k.Want(t, 200, "", isptest.Post(k.admin, "/subscriptions/"+sub.ID+"/credentials", map[string]any{
		"password": "second-password-2",
	}))
	path := "/history/subscription/" + sub.ID
	list, _ := k.page(t, path)
	hidden := map[string]any{"hidden": "secret"}
	if len(list) < 2 || !cmp.Equal(list[0].Data["passwordRef"], any(hidden)) {
		t.Fatalf("events: %+v", list)
	}
	replaced := list[len(list)-1]
	if !slices.ContainsFunc(replaced.Change, func(c change) bool {
		return c.Field == "passwordRef" && cmp.Equal(c.From, any(hidden)) && cmp.Equal(c.To, any(hidden))
	}) {
		t.Errorf("the change of the password: %+v", replaced)
	}
	for _, rest := range []string{"", "/state", "/diff?from=2026-01-01"} {
		text := string(k.Want(t, 200, "", isptest.Get(k.support, path+rest)).Body)
		if strings.Contains(text, "password-") {
			t.Errorf("%s has a password: %s", rest, text)
		}
	}
}

// TestHistory_OfAForgottenPersonSaysSo: nothing fails, and nothing personal is left.
func TestHistory_OfAForgottenPersonSaysSo(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.forget(t)
	path := "/history/subscriber/" + k.customer
	list, _ := k.page(t, path)
	details, _ := list[0].Data["details"].(map[string]any)
	if !cmp.Equal(details["firstName"], any(map[string]any{"hidden": "forgotten"})) {
		t.Errorf("the name: %v", details)
	}
	if list[2].Reason != nil {
		t.Errorf("the reason: %s", *list[2].Reason)
	}
	for _, rest := range []string{"", "/state", "/diff?from=2026-01-01"} {
		text := string(k.Want(t, 200, "", isptest.Get(k.support, path+rest)).Body)
		for _, personal := range []string{"Amina", "Njeri", "712345678"} {
			if strings.Contains(text, personal) {
				t.Errorf("%s has %s: %s", rest, personal, text)
			}
		}
		if !json.Valid([]byte(text)) {
			t.Errorf("%s is no JSON", rest)
		}
	}
}

// forget destroys the key of the customer's personal texts.
func (k *kit) forget(t *testing.T) {
	t.Helper()
	customer, err := id.Parse[id.Subscriber](k.customer)
	if err != nil {
		t.Fatal(err)
	}
	k.Core.Keys.Destroy(customer.UUID())
}
