package paymentsapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
)

// failedShown is a row of the list of messages that led to nothing.
type failedShown struct {
	ID, Kind, Reason string
	From, Shortcode  *string
	Verified         bool
	Attempts         int
}

// failedCallbacks lists them on the root host, with the text of the answer.
func (k *moneyKit) failedCallbacks(t *testing.T, want int) ([]failedShown, string) {
	t.Helper()
	var page struct{ Data []failedShown }
	var text string
	k.Until(t, "the messages to be given up", func() bool {
		page.Data = nil
		a := k.Do(t, apitest.Request{Host: apitest.Domain, As: apitest.Super, Path: "/failed-callbacks"})
		a.Into(t, &page)
		text = string(a.Body)
		return len(page.Data) == want
	})
	return page.Data, text
}

// The provider's message about money has a form that nobody knows. It was acknowledged, so it does not come again.
func TestFailedCallbacks_AMessageThatCannotBeReadIsShownReadAndTriedAgain(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	confirm := func(body string) int {
		return k.Do(t, apitest.Request{
			Method: "POST", Host: apitest.Domain, Path: "/webhooks/mobile-money/c2b/confirmation",
			Body: body,
		}).Status
	}
	const strange = `{"TransID":"SJK4X7Q2P9","TransAmount":{"value":400},"MSISDN":"254712345678"}`
	if status := confirm(strange); status != http.StatusOK {
		t.Fatalf("not acknowledged: %d", status)
	}
	if status := confirm("TransID=SJK4X7Q2P8"); status != http.StatusBadRequest {
		t.Errorf("no JSON: %d", status)
	}
	list, text := k.failedCallbacks(t, 2)
	for _, one := range list {
		if one.Reason != "unreadable" || one.Kind != "c2b_confirmation" || one.From == nil || !one.Verified {
			t.Errorf("%+v", one)
		}
	}
	if strings.Contains(text, "SJK4X7Q2P9") || strings.Contains(text, "254712345678") {
		t.Errorf("the list shows the content: %s", text)
	}
	at := "/failed-callbacks/" + list[1].ID // the older one
	var said struct {
		Content string
		Cut     bool
	}
	k.Post(t, apitest.Domain, apitest.Super, at+"/read", nil, 200).Into(t, &said)
	if said.Content != strange || said.Cut {
		t.Errorf("content %+v", said)
	}
	k.Post(t, apitest.Domain, apitest.Super, at+"/retry", nil, 202)
	again, _ := k.failedCallbacks(t, 2)
	if again[1].Reason != "unreadable" || again[1].Attempts != 1 {
		t.Errorf("after another try: %+v", again[1])
	}
	var looks []events.HistoryLook
	for _, e := range k.lookups(t) {
		if e.TargetID.String() != list[1].ID || e.Category != commands.CallbackCategory {
			t.Errorf("%+v", e)
		}
		looks = append(looks, e.Look)
	}
	if len(looks) != 2 || looks[0] != events.LookCallback || looks[1] != events.LookCallbackRetry {
		t.Errorf("the audit log has %v", looks)
	}
}

// lookups lists the looks that the audit log has, the oldest first.
func (k *moneyKit) lookups(t *testing.T) (list []events.HistoryRead) {
	t.Helper()
	found, _, err := k.Core.Store.ReadAll(t.Context(), 0, 100, []string{events.HistoryRead{}.EventType()})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		list = append(list, e.Event.(events.HistoryRead))
	}
	return list
}

func TestFailedCallbacks_AreThePlatformsAlone(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	unknown := uuid.NewString()
	for _, path := range []string{"/failed-callbacks/" + unknown + "/read", "/failed-callbacks/" + unknown + "/retry"} {
		k.Post(t, apitest.Domain, apitest.Super, path, nil, 404)
		k.Post(t, apitest.Acme, apitest.Admin, path, nil, 404)
	}
	a := k.Do(t, apitest.Request{Host: apitest.Acme, As: apitest.Admin, Path: "/failed-callbacks"})
	if a.Status != http.StatusNotFound {
		t.Errorf("an organization's administrator: %d", a.Status)
	}
	if list, _ := k.failedCallbacks(t, 0); len(list) != 0 || len(k.lookups(t)) != 0 {
		t.Errorf("%v", list)
	}
}
