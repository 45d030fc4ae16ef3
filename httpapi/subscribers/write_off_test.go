package subscribersapi_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// writeOff asks to give a debt up, and reads the answer.
func (k *ispKit) writeOff(
	t *testing.T, as, subscriber string, body map[string]any, status int, code string,
) isptest.Client {
	t.Helper()
	var c isptest.Client
	a := k.Want(t, status, code, isptest.Post(as, "/subscribers/"+subscriber+"/write-off", body))
	if status == 200 {
		a.Into(t, &c)
	}
	return c
}

func TestWriteOff_GivesUpAPartAndThenTheRest(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	k.withMoney(t)
	admin := k.Admin(t)
	c := k.Register(t, admin, isptest.Amina())
	s := k.subscribe(t, admin, c.ID, k.Plan(t, admin, "p", "postpaid", "month"), nil) // 1,500.50
	first := commands.PeriodInvoice(id.Must[id.Subscription](s.ID), 1)
	k.eventually(t, s.ID, "invoiced", func(_ subscribers.Subscription, a billing.Account) bool {
		return a.Invoices[first].Seq > 0 && a.Invoices[first].Due.Minor == 150050
	})
	for bad, code := range map[any]string{
		1500.51: "write_off_too_large", 0: "invalid_input", -1: "invalid_input", 1.001: "invalid_input",
		"x": "invalid_input",
	} {
		k.writeOff(t, admin, c.ID, map[string]any{"amount": bad, "reason": "gone away"}, 422, code)
	}
	k.writeOff(t, admin, c.ID, map[string]any{"amount": 500}, 400, "missing_field")
	support := k.SignIn(t, apitest.Acme, isptest.SupportEmail).AccessToken
	k.writeOff(t, support, c.ID, map[string]any{"reason": "gone away"}, 403, "role_required")
	part := k.writeOff(t, admin, c.ID, map[string]any{"amount": 500, "reason": "half of it"}, 200, "")
	rest := k.writeOff(t, admin, c.ID, map[string]any{"reason": "gone away"}, 200, "")
	if part.Balance != "1000.50" || rest.Balance != "0.00" {
		t.Errorf("%s is owed after a part, and %s after the rest", part.Balance, rest.Balance)
	}
	k.writeOff(t, admin, c.ID, map[string]any{"reason": "again"}, 422, "write_off_too_large")
	k.eventually(t, s.ID, "goes on without the debt", func(s subscribers.Subscription, a billing.Account) bool {
		return s.State == subscribers.Active && a.Due().IsZero() && a.Credit().IsZero()
	})
}

func TestWriteOff_OfNobodyAndOfNothing(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	k.withMoney(t)
	admin := k.Admin(t)
	all := map[string]any{"reason": "gone away"}
	k.writeOff(t, admin, id.New[id.Subscriber]().String(), all, 404, "subscriber_not_found")
	k.writeOff(t, admin, "nobody", all, 404, "subscriber_not_found")
	c := k.Register(t, admin, isptest.Amina()) // never charged
	k.writeOff(t, admin, c.ID, all, 422, "write_off_too_large")
}
