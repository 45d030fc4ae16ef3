package webhooksviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
	"github.com/lastmile-isp/lastmile/projections/webhooks"
)

// Each endpoint has a row, and a term for each time in which its types were the same.
func TestEndpoints_Story(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	acme := id.Derive[id.Organization]("test", "acme")
	story := projectiontest.NewStory(acme, began)
	for _, name := range []string{
		"plain", "amended", "rotated", "twice", "failing", "back", "removed", "tried", "long",
	} {
		hook := id.Derive[id.Webhook]("test", name)
		ref := func(of string) id.Secret { return id.Derive[id.Secret](name, of) }
		list := []events.Event{events.WebhookRegistered{
			WebhookID: hook, OrgID: acme, Place: 1, URL: "https://" + name + ".example.com", SecretRef: ref("first"),
			Types: []string{events.OutboxInvoiceCreated, events.OutboxPaymentSucceeded}, At: began,
		}}
		amended := events.WebhookAmended{
			WebhookID: hook, OrgID: acme, URL: "https://new.example.com", Types: []string{events.OutboxWalledGarden},
			Description: "ERP", At: began.Add(time.Minute),
		}
		rotated := events.WebhookSecretRotated{
			WebhookID: hook, OrgID: acme, SecretRef: ref("next"), FormerRef: ref("first"),
			FormerUntil: began.Add(24 * time.Hour), At: began.Add(time.Minute),
		}
		disabled := events.WebhookDisabled{
			WebhookID: hook, OrgID: acme, Reason: events.WebhookOffFailing, Since: began, Failed: 20,
			At: began.Add(72 * time.Hour),
		}
		enabled := events.WebhookEnabled{WebhookID: hook, OrgID: acme, At: began.Add(73 * time.Hour)}
		switch name {
		case "amended":
			list = append(list, amended)
		case "rotated":
			list = append(list, rotated)
		case "twice":
			again := rotated
			again.SecretRef, again.FormerRef, again.FormerUntil = ref("third"), ref("next"), again.At
			list = append(list, rotated, again)
		case "failing":
			list = append(list, disabled)
		case "back":
			list = append(list, disabled, amended, enabled)
		case "removed":
			list = append(list, rotated, events.WebhookRemoved{
				WebhookID: hook, OrgID: acme, SecretRef: ref("next"), FormerRef: ref("first"), At: began.Add(time.Hour),
			})
		case "tried":
			delivery := id.Derive[id.Delivery]("test", name)
			list = append(list, events.WebhookPinged{WebhookID: hook, OrgID: acme, DeliveryID: delivery, At: began},
				events.WebhookRedeliveryAsked{WebhookID: hook, OrgID: acme, DeliveryID: delivery, At: began})
		case "long":
			list = append(list, events.WebhookPeriodClosed{WebhookID: hook, Opening: []byte("{}")})
		}
		story.Add("webhook-"+name, list...)
	}
	projectiontest.Check(t, webhooksviews.Endpoints{}, story)
}

// A message belongs to a term by its place in the log, and not by when somebody looks.
func TestTerm_TakesWhatLiesInIt(t *testing.T) {
	t.Parallel()
	end := int64(20)
	term := webhooksviews.Term{After: 10, Until: &end, Types: []string{events.OutboxInvoiceCreated}}
	for position, takes := range map[int64]bool{9: false, 10: false, 11: true, 20: true, 21: false} {
		if term.Takes(position, events.OutboxInvoiceCreated) != takes {
			t.Errorf("position %d", position)
		}
	}
	if term.Takes(15, events.OutboxWalledGarden) {
		t.Error("another type")
	}
	term.Until = nil
	if !term.Takes(1000, events.OutboxInvoiceCreated) {
		t.Error("a term that still holds")
	}
}
