package subscribersapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// shownHappening is an entry of a timeline as a client reads it.
type shownHappening struct {
	Type, Code, Summary string
	Facts               map[string]any
	Reason              *string
	Actor               struct {
		Kind           string
		ID, Role, Name *string
	}
	Cause struct{ Type, ID string }
}

// timeline reads a subscriber's timeline to its end, in pages of limit.
func (k *moneyKit) timeline(t *testing.T, who id.Subscriber, limit string) (all []shownHappening) {
	t.Helper()
	k.Shows(t, subscribersviews.TimelineName, subscribersviews.SubscribersName)
	for cursor := ""; ; {
		var page struct {
			Data       []shownHappening
			NextCursor *string
			HasMore    bool
		}
		a := k.Do(t, apitest.Request{
			Path: "/subscribers/" + who.String() + "/timeline?limit=" + limit + cursor, As: apitest.Support,
		})
		if a.Status != http.StatusOK {
			t.Fatalf("timeline: %d %s", a.Status, a.Body)
		}
		a.Into(t, &page)
		all = append(all, page.Data...)
		if !page.HasMore {
			return all
		}
		cursor = "&cursor=" + *page.NextCursor
	}
}

func TestTimeline_TellsWhatHappenedAndWhoDidIt(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	jane := k.Named(t, apitest.Admin, "Jane")
	var p moneytest.ShownPayment
	k.Post(t, apitest.Acme, apitest.Admin, "/payments/cash",
		map[string]any{"subscriberId": k.Amina, "amount": 100, "reference": "Secret-Book 1"}, 201).Into(t, &p)
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+*p.ReceiptID+"/reverse",
		map[string]any{"reason": "paid by mistake"}, 200)
	k.Quiet(t)
	all := k.timeline(t, k.Amina, "100")
	var types []string
	for _, h := range all {
		types = append(types, h.Type)
	}
	for _, want := range []string{
		"subscribers.SubscriberRegistered", "payments.ReceiptMatched", "billing.ReceiptCredited",
		"payments.ReceiptReversed", "billing.ReceiptWithdrawn",
	} {
		if !slices.Contains(types, want) {
			t.Errorf("%s is not among %v", want, types)
		}
	}
	reversed := all[slices.Index(types, "payments.ReceiptReversed")]
	if reversed.Summary != "A payment of KES 100.00 was reversed." || reversed.Reason == nil ||
		*reversed.Reason != "paid by mistake" ||
		reversed.Actor.Kind != "user" || *reversed.Actor.ID != jane.String() || *reversed.Actor.Role != "admin" ||
		reversed.Actor.Name == nil ||
		*reversed.Actor.Name != "Jane Doe" || reversed.Cause.Type != "receipt" || reversed.Cause.ID != *p.ReceiptID {
		t.Errorf("the reversal is %+v", reversed)
	}
	facts := map[string]any{"amount": 100.0, "currency": "KES"}
	if diff := cmp.Diff(facts, reversed.Facts); reversed.Code != "payment_reversed" || diff != "" {
		t.Errorf("the reversal says %s (-want +got)\n%s", reversed.Code, diff)
	}
	if first := all[len(all)-1]; first.Type != "subscribers.SubscriberRegistered" || first.Actor.Kind != "operator" ||
		first.Actor.Name != nil {
		t.Errorf("oldest %+v", first)
	}
	paged := k.timeline(t, k.Amina, "2")
	if len(paged) != len(all) {
		t.Errorf("pages have %d entries, all at once %d", len(paged), len(all))
	}
	for i := range paged {
		if paged[i].Type != all[i].Type {
			t.Errorf("entry %d of pages is %s, want %s", i, paged[i].Type, all[i].Type)
		}
	}
	body := string(k.Do(t, apitest.Request{Path: "/subscribers/" + k.Amina.String() + "/timeline?limit=100",
		As: apitest.Support}).Body)
	for _, word := range []string{"Somebody", "254712345678", "Secret-Book", "127.0.0.1"} {
		if strings.Contains(body, word) {
			t.Errorf("%q is in the timeline", word)
		}
	}
}

func TestTimeline_WhatWasRecordedWithoutAnActorIsOfAProcess(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	subscription := id.New[id.Subscription]()
	_, err := k.Core.Store.Append(t.Context(), "dunning-"+subscription.String(), eventstore.NoStream, []eventstore.New{{
		Event: events.DunningClockStopped{
			DunningSubject: events.DunningSubject{SubscriptionID: subscription, OrgID: k.Org, SubscriberID: k.Amina},
			Cause:          "payments", From: k.Clock.Now(), At: k.Clock.Now(),
		},
		Meta: events.Metadata{
			EventID: id.New[id.Event](), CommandID: id.New[id.Command](), Action: "access.StopClock", OrgID: k.Org,
			At: k.Clock.Now(),
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	newest := k.timeline(t, k.Amina, "100")[0]
	if newest.Type != "access.DunningClockStopped" || newest.Actor.Kind != "process" || newest.Actor.ID != nil {
		t.Errorf("newest %+v", newest)
	}
}

func TestTimeline_TheDescriptionHasTheTypesOfCauses(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	var doc struct {
		Components struct {
			Schemas struct {
				TimelineCause struct {
					Properties struct{ Type struct{ Enum []string } }
				}
			}
		}
	}
	k.Do(t, apitest.Request{Path: "/openapi.json"}).Into(t, &doc)
	described := doc.Components.Schemas.TimelineCause.Properties.Type.Enum
	if diff := cmp.Diff(subscribersviews.TimelineCauses, described); diff != "" {
		t.Errorf("(-rows +description):\n%s", diff)
	}
}

func TestTimelineAndCollections_RolesTenantsAndHosts(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.Shows(t, subscribersviews.SubscribersName, subscribersviews.TimelineName)
	timeline := "/subscribers/" + k.Amina.String() + "/timeline"
	for _, path := range []string{timeline, "/reports/collections"} {
		for name, c := range map[string]struct {
			request apitest.Request
			want    apitest.Want
		}{
			"support":      {apitest.Request{Path: path, As: apitest.Support}, apitest.Is(200, "")},
			"a subscriber": {apitest.Request{Path: path, As: apitest.Subscriber}, apitest.Is(403, "role_required")},
			"nobody":       {apitest.Request{Path: path}, apitest.Is(401, "unauthenticated")},
			"the root host": {
				apitest.Request{Path: path, Host: apitest.Domain, As: apitest.Super}, apitest.Is(404, "not_found"),
			},
			"another tenant": {
				apitest.Request{Path: path, Host: apitest.Acme, As: apitest.OtherAdmin},
				apitest.Is(401, "unauthenticated"),
			},
		} {
			apitest.Sends(t, k.Kit.Kit, name+" "+path, c.request, c.want)
		}
	}
	none := apitest.Is(404, "subscriber_not_found")
	apitest.Sends(t, k.Kit.Kit, "foreign", apitest.Request{Path: timeline, Host: apitest.Other, As: apitest.OtherAdmin},
		none)
	apitest.Sends(t, k.Kit.Kit, "unknown", apitest.Request{
		Path: "/subscribers/" + id.New[id.Subscriber]().String() + "/timeline",
		As:   apitest.Support,
	}, none)
	apitest.Sends(t, k.Kit.Kit, "nonsense",
		apitest.Request{Path: "/subscribers/nonsense/timeline", As: apitest.Support}, none)
	apitest.Sends(t, k.Kit.Kit, "cursor", apitest.Request{Path: timeline + "?cursor=x", As: apitest.Support},
		apitest.Is(400, "bad_cursor"))
}

// TestTimeline_IsNarrowedByTypeAreaAndTime: types and areas add up, an unknown one finds nothing, and a day has all of
// that day.
func TestTimeline_IsNarrowedByTypeAreaAndTime(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.Post(t, apitest.Acme, apitest.Admin, "/payments/cash",
		map[string]any{"subscriberId": k.Amina, "amount": 100, "reference": "Book 1"}, 201)
	k.Quiet(t)
	all := k.timeline(t, k.Amina, "100")
	count := func(query string) (n int) {
		t.Helper()
		for range k.timeline(t, k.Amina, "1&"+query) {
			n++
		}
		return n
	}
	var billing, credited int
	for _, h := range all {
		if strings.HasPrefix(h.Type, "billing.") {
			billing++
		}
		if h.Type == "billing.ReceiptCredited" {
			credited++
		}
	}
	today := k.Clock.Now().UTC()
	for query, want := range map[string]int{
		"type=billing": billing, "type=billing.ReceiptCredited": credited, "type=billing.Receipt": 0, "type=bill": 0,
		"type=billing,billing.ReceiptCredited":       billing,
		"type=subscribers.SubscriberRegistered,none": 1, "type=%25": 0,
		"from=" + today.AddDate(0, 0, -1).Format(time.DateOnly): len(all),
		"to=" + today.AddDate(0, 0, -2).Format(time.DateOnly):   0,
		"from=" + today.AddDate(0, 0, 2).Format(time.DateOnly):  0,
	} {
		if got := count(query); got != want {
			t.Errorf("%s finds %d, want %d", query, got, want)
		}
	}
	for _, bad := range []string{"from=soon", "to=2026-02-30", "type=a&type=b"} {
		path := "/subscribers/" + k.Amina.String() + "/timeline?" + bad
		a := k.Do(t, apitest.Request{Path: path, As: apitest.Support})
		if a.Status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", bad, a.Status, a.Body)
		}
	}
}
