package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/lastmile-isp/lastmile/events"
)

// receiver is an organization's own system, which keeps what it is told.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int             // of its answers
	hangs  context.Context //nolint:containedctx // until its end nothing is answered; nil = at once
	got    []received
}

// received is one request.
type received struct {
	header http.Header
	body   []byte
	event  answer
}

// newReceiver starts a system that takes everything, until the end of the test.
func newReceiver(t testing.TB) *receiver {
	t.Helper()
	r := &receiver{status: http.StatusNoContent}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		one := received{header: q.Header, body: body}
		_ = json.Unmarshal(body, &one.event)
		r.mu.Lock()
		r.got = append(r.got, one)
		status, hangs := r.status, r.hangs
		r.mu.Unlock()
		if hangs != nil {
			<-hangs.Done()
		}
		w.WriteHeader(status)
	}))
	atEnd(t, r.Close)
	return r
}

// answer sets the status of the answers from now on.
func (r *receiver) answer(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

// of gives the requests about a type so far.
func (r *receiver) of(kind string) []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.got), func(one received) bool { return one.event.text("type") != kind })
}

// verified reports whether the signature of a request fits a secret.
func (one received) verified(t testing.TB, secret string) bool {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return verifier.Verify(one.body, one.header) == nil
}

// hook registers an endpoint at a receiver, and gives its id and its secret.
func (k *kit) hook(r *receiver, types ...string) (which, secret string) {
	k.t.Helper()
	made := k.must(k.admin, "POST", "/webhook-endpoints", map[string]any{"url": r.URL, "types": types})
	if made.text("state") != "enabled" || !strings.HasPrefix(made.text("secret"), "whsec_") {
		k.t.Fatalf("registered %v", made)
	}
	return made.text("id"), made.text("secret")
}

// told waits for so many requests about a type, and gives them.
func (k *kit) told(r *receiver, kind string, count int) []received {
	k.t.Helper()
	k.eventually(fmt.Sprint(count, " requests about ", kind), func(context.Context) (bool, error) {
		return len(r.of(kind)) >= count, fmt.Errorf("%d came", len(r.of(kind)))
	})
	return r.of(kind)
}

// delivery waits until the only delivery of an endpoint with a type is in a state after so many attempts.
func (k *kit) delivery(hook, kind, state string, attempts int) answer {
	k.t.Helper()
	var found answer
	k.eventually(fmt.Sprintf("a delivery that is %s after %d attempts", state, attempts),
		func(context.Context) (bool, error) {
			rows := slices.DeleteFunc(k.all(k.admin, "/webhook-deliveries?endpointId="+hook), func(a answer) bool {
				return a.text("type") != kind
			})
			if len(rows) != 1 {
				return false, fmt.Errorf("%d deliveries", len(rows))
			}
			found = rows[0]
			return found.text("state") == state && len(found.list("attempts")) == attempts, fmt.Errorf("%v", found)
		})
	return found
}

// A customer is invoiced, cancels a prompt, pays, is walled in, suspended and restored: the organization's own system
// gets a message about each, as GET /outbox shows it, under signatures that verify.
func TestWebhooks_EachTypeIsToldWithASignatureThatVerifies(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	k.must(k.admin, "PUT", "/settings/dunning", map[string]any{"default": map[string]any{
		"reminderDays": []int{}, "noCutDays": []string{}, "noCutAfter": map[string]string{}, "skipHolidays": false,
	}})
	r := newReceiver(t)
	plan := k.plan("home", 1000)
	subscriber, account := k.subscriber("254711000001")
	types := []string{
		"payment.succeeded", "payment.failed", "invoice.created", "subscription.activated", "subscription.suspended",
		"dunning.walled_garden",
	}
	_, secret := k.hook(r, types...)
	subscription := k.subscribe(subscriber, plan)
	invoice := k.told(r, "invoice.created", 1)[0]
	if _, err := k.simCall("PUT", "/sim/phones/254711000001", map[string]any{"behaviour": "cancel"}); err != nil {
		t.Fatal(err)
	}
	k.must(k.admin, "POST", "/payments/initiate", map[string]any{
		"subscriberId": subscriber, "amount": 1000, "phone": "254711000001",
	})
	failed := k.told(r, "payment.failed", 1)[0]
	k.pay("254711000001", account, 1000)
	paid, active := k.told(r, "payment.succeeded", 1)[0], k.told(r, "subscription.activated", 1)[0]
	until, err := time.Parse(time.RFC3339Nano, k.paidUntil(subscription, ""))
	if err != nil {
		t.Fatal(err)
	}
	k.advance(map[string]any{"to": until.AddDate(0, 0, 3).Add(time.Hour)})
	k.dunning(subscription, events.DunningWalledGarden)
	k.advance(map[string]any{"to": until.AddDate(0, 0, 10).Add(2 * time.Hour)})
	k.dunning(subscription, events.DunningSuspended)
	garden, off := k.told(r, "dunning.walled_garden", 1)[0], k.told(r, "subscription.suspended", 1)[0]
	k.pay("254711000001", account, 1000)
	again := k.told(r, "subscription.activated", 2)[1]
	for reason, sent := range map[string]received{"new": active, "restored": again} {
		if data, _ := sent.event["data"].(map[string]any); data["reason"] != reason {
			t.Errorf("the reason is not %s: %s", reason, sent.body)
		}
	}
	k.complete(secret, subscriber, []want{
		{invoice, []string{"invoiceId", "number", "subscriberId", "total", "currency", "dueDate"}},
		{failed, []string{"paymentId", "subscriberId", "amount", "currency", "gateway", "reason"}},
		{paid, []string{"paymentId", "subscriberId", "amount", "currency", "gateway"}},
		{active, []string{"subscriptionId", "subscriberId", "planId", "paidUntil", "reason"}},
		{again, []string{"subscriptionId", "subscriberId", "planId", "paidUntil", "reason"}},
		{garden, []string{"subscriptionId", "subscriberId", "planId", "since", "due", "currency", "invoiceIds"}},
		{off, []string{"subscriptionId", "subscriberId", "planId", "since", "due", "currency", "invoiceIds"}},
	})
	k.likeOutbox(r, types)
}

// want is a request with the fields that its data has.
type want struct {
	got    received
	fields []string
}

// complete checks the data and the signatures of requests about a customer.
func (k *kit) complete(secret, subscriber string, list []want) {
	k.t.Helper()
	for _, c := range list {
		data, _ := c.got.event["data"].(map[string]any)
		for _, name := range c.fields {
			if data[name] == nil {
				k.t.Errorf("%s without %s: %s", c.got.event.text("type"), name, c.got.body)
			}
		}
		if data["subscriberId"] != subscriber || len(data) != len(c.fields) {
			k.t.Errorf("%s", c.got.body)
		}
		if !c.got.verified(k.t, secret) || c.got.header.Get("Webhook-Id") != c.got.event.text("id") {
			k.t.Errorf("%s does not verify: %v", c.got.event.text("type"), c.got.header)
		}
	}
}

// likeOutbox compares what a receiver was told with GET /outbox.
func (k *kit) likeOutbox(r *receiver, types []string) {
	k.t.Helper()
	told := map[string]string{}
	for _, kind := range types {
		for _, one := range r.of(kind) {
			told[one.event.text("id")] = fmt.Sprint(one.event)
		}
	}
	for _, row := range k.all(k.admin, "/outbox") {
		if text, ok := told[row.text("id")]; ok && text != fmt.Sprint(row) {
			k.t.Errorf("told %s\noutbox %v", text, row)
		}
		delete(told, row.text("id"))
	}
	if len(told) > 0 {
		k.t.Errorf("not in the outbox: %v", told)
	}
}

// A system that fails is told again at the promised times, under the same id, and on request after the last one.
func TestWebhooks_AFailureIsRepeatedByTheClockAndOnRequest(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	r := newReceiver(t)
	hook, secret := k.hook(r, "invoice.created")
	r.answer(http.StatusServiceUnavailable)
	plan := k.plan("home", 1000)
	subscriber, _ := k.subscriber("254711000001")
	k.subscribe(subscriber, plan)
	for i, pause := range []string{"30s", "2m", "10m", "1h", "6h"} {
		row := k.delivery(hook, "invoice.created", "pending", i+1)
		next, err := time.Parse(time.RFC3339, row.text("nextAttemptAt"))
		if err != nil || !next.After(k.programTime()) {
			t.Errorf("attempt %d: next at %q", i+1, row.text("nextAttemptAt"))
		}
		k.advance(map[string]any{"advance": pause})
	}
	row := k.delivery(hook, "invoice.created", "failed", 6)
	for _, a := range row.list("attempts") {
		if a["status"] != 503.0 || a.text("error") != "not_accepted" || a.text("at") == "" {
			t.Errorf("attempt %v", a)
		}
	}
	if row["nextAttemptAt"] != nil || len(k.all(k.admin, "/webhook-deliveries?state=failed")) != 1 {
		t.Errorf("ended as %v", row)
	}
	r.answer(http.StatusOK)
	again := k.must(k.admin, "POST", "/webhook-deliveries/"+row.text("id")+"/redeliver", nil)
	if again.text("id") != row.text("id") {
		t.Errorf("redelivered %v", again)
	}
	k.delivery(hook, "invoice.created", "delivered", 7)
	for _, one := range k.told(r, "invoice.created", 7) {
		if one.header.Get("Webhook-Id") != row.text("eventId") || !one.verified(t, secret) {
			t.Errorf("another id, or it does not verify: %v", one.header)
		}
		if fmt.Sprint(one.event) != fmt.Sprint(answer(row["message"].(map[string]any))) {
			t.Errorf("sent %s, and the log of deliveries shows %v", one.body, row["message"])
		}
	}
}

// While a secret is being replaced both sign; afterwards the new one alone. No answer but the first has a secret.
func TestWebhooks_ASecretIsRotatedWithAnOverlap(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	r := newReceiver(t)
	hook, former := k.hook(r, "invoice.created")
	ping := func(count int) received {
		k.must(k.admin, "POST", "/webhook-endpoints/"+hook+"/ping", nil)
		return k.told(r, "webhook.ping", count)[count-1]
	}
	if one := ping(1); !one.verified(t, former) || one.event.text("id") == "" {
		t.Errorf("the first secret: %v", one.header)
	}
	rotated := k.must(k.admin, "POST", "/webhook-endpoints/"+hook+"/rotate-secret", nil)
	present := rotated.text("secret")
	if present == former || !strings.HasPrefix(present, "whsec_") || rotated.text("formerSecretUntil") == "" {
		t.Errorf("rotated %v", rotated)
	}
	k.eventually("two signatures", func(context.Context) (bool, error) {
		one := ping(len(r.of("webhook.ping")) + 1)
		return one.verified(t, present), nil
	})
	if one := ping(len(r.of("webhook.ping")) + 1); !one.verified(t, former) || !one.verified(t, present) ||
		len(strings.Fields(one.header.Get("Webhook-Signature"))) != 2 {
		t.Errorf("during the overlap: %v", one.header)
	}
	k.advance(map[string]any{"advance": "25h"})
	if one := ping(len(r.of("webhook.ping")) + 1); one.verified(t, former) || !one.verified(t, present) {
		t.Errorf("after the overlap: %v", one.header)
	}
	k.eventually("one secret in the vault", func(ctx context.Context) (bool, error) {
		var n int
		err := k.db.Owner.QueryRow(ctx, `select count(*) from `+k.db.Namespace.Schema("vault")+
			`.secrets where purpose = 'webhook_secret'`).Scan(&n)
		return n == 1, err
	})
	for _, path := range []string{
		"/webhook-endpoints", "/webhook-endpoints/" + hook, "/webhook-deliveries", "/outbox",
	} {
		if text := fmt.Sprint(k.must(k.admin, "GET", path, nil)); strings.Contains(text, "whsec_") {
			t.Errorf("%s shows a secret: %s", path, text)
		}
	}
	if strings.Contains(k.log.String(), "whsec_") || strings.Contains(k.log.String(), present[6:]) {
		t.Error("a secret is in the log")
	}
}

// A disabled endpoint gets nothing, and nothing of that time afterwards; that of another organization is not there.
func TestWebhooks_DisabledRemovedAndForeignEndpoints(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	rival := k.organization("rival", "admin@rival.test")
	r := newReceiver(t)
	hook, _ := k.hook(r, "invoice.created")
	plan := k.plan("home", 1000)
	invoice := func(phone string) {
		subscriber, _ := k.subscriber(phone)
		k.subscribe(subscriber, plan)
	}
	invoice("254711000001")
	k.told(r, "invoice.created", 1)
	delivery := k.delivery(hook, "invoice.created", "delivered", 1).text("id")
	for _, call := range []string{
		"GET /webhook-endpoints/" + hook, "PATCH /webhook-endpoints/" + hook, "DELETE /webhook-endpoints/" + hook,
		"POST /webhook-endpoints/" + hook + "/ping", "POST /webhook-endpoints/" + hook + "/rotate-secret",
		"GET /webhook-deliveries/" + delivery, "POST /webhook-deliveries/" + delivery + "/redeliver",
	} {
		k.refused(rival, call, nil, 404, "")
	}
	if rows := append(k.all(rival, "/webhook-endpoints"),
		k.all(rival, "/webhook-deliveries?endpointId="+hook)...); len(rows) != 0 {
		t.Errorf("another organization sees %v", rows)
	}
	for _, field := range []string{"url", "types", "state"} {
		k.refused(k.admin, "PATCH /webhook-endpoints/"+hook, map[string]any{field: nil}, 422, "invalid_input")
	}
	k.must(k.admin, "PATCH", "/webhook-endpoints/"+hook, map[string]any{"state": "disabled"})
	k.refused(k.admin, "POST /webhook-deliveries/"+delivery+"/redeliver", nil, 409, "webhook_disabled")
	invoice("254711000002")
	k.must(k.admin, "PATCH", "/webhook-endpoints/"+hook, map[string]any{"state": "enabled", "description": "ERP"})
	invoice("254711000003")
	k.eventually("the third invoice", func(context.Context) (bool, error) {
		return len(k.all(k.admin, "/webhook-deliveries?state=delivered")) == 2, nil
	})
	if n := len(r.of("invoice.created")); n != 2 {
		t.Errorf("%d invoices were told", n)
	}
	k.must(k.admin, "DELETE", "/webhook-endpoints/"+hook, nil)
	k.refused(k.admin, "GET /webhook-endpoints/"+hook, nil, 404, "webhook_not_found")
	for range 10 {
		k.hook(r, "invoice.created")
	}
	k.refused(k.admin, "POST /webhook-endpoints", map[string]any{
		"url": r.URL, "types": []string{"invoice.created"},
	}, 409, "webhook_limit_reached")
	for _, body := range []map[string]any{
		{"url": "ftp://x.example", "types": []string{"invoice.created"}},
		{"url": "http://169.254.169.254/", "types": []string{"invoice.created"}},
		{"url": r.URL, "types": []string{"nothing"}}, {"url": r.URL, "types": []string{}},
	} {
		k.refused(k.admin, "POST /webhook-endpoints", body, 422, "invalid_input")
	}
}
