package webhooks_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/webhooks"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// The endpoint of these tests.
var (
	now   = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	hook  = id.Derive[id.Webhook]("test", "hook")
	acme  = id.Derive[id.Organization]("test", "acme")
	first = id.Derive[id.Secret]("test", "first")
	next  = id.Derive[id.Secret]("test", "next")
	third = id.Derive[id.Secret]("test", "third")
	at    = now.Add(-time.Hour)

	settings = commands.WebhookSettings{
		URL: "https://hooks.example.com", Types: []string{events.OutboxPaymentSucceeded, events.OutboxInvoiceCreated},
	}
	registered = events.WebhookRegistered{
		WebhookID: hook, OrgID: acme, Place: 3, URL: settings.URL,
		Types: []string{events.OutboxInvoiceCreated, events.OutboxPaymentSucceeded}, SecretRef: first, At: at,
	}
	disabled = events.WebhookDisabled{WebhookID: hook, OrgID: acme, Reason: events.WebhookOffAsked, At: at}
	enabled  = events.WebhookEnabled{WebhookID: hook, OrgID: acme, At: at.Add(time.Minute)}
	removed  = events.WebhookRemoved{WebhookID: hook, OrgID: acme, SecretRef: first, At: at}
)

// given begins a test with events.
func given(t *testing.T, list ...events.WebhookEvent) *decidertest.Scenario[
	webhooks.Endpoint, commands.WebhookCommand, events.WebhookEvent] {
	t.Helper()
	return decidertest.For(t, webhooks.Endpoints(), now).Given(list...)
}

func TestRegister_MakesAnEndpointOnce(t *testing.T) {
	t.Parallel()
	register := commands.RegisterWebhook{WebhookID: hook, OrgID: acme, Place: 3, Settings: settings, SecretRef: first}
	made := registered
	made.At = now
	given(t).When(register).Then(made)
	given(t, registered).When(register).ThenNothing()
	given(t, registered, removed).When(register).ThenFails("webhook_not_found")
}

// An organization has as many endpoints as it has places, whoever registers at once; a removed one frees its place.
func TestRegister_EachEndpointHasAPlaceOfItsOrganization(t *testing.T) {
	t.Parallel()
	def := webhooks.Endpoints()
	state := def.Evolve(webhooks.Endpoint{}, registered)
	claims := def.Claims(state)
	if len(claims) != 1 || claims[0].Value != acme.String()+" 3" || claims[0].Code != "webhook_place_taken" {
		t.Errorf("claims %+v", claims)
	}
	if claims := def.Claims(def.Evolve(state, removed)); claims != nil {
		t.Errorf("a removed endpoint claims %+v", claims)
	}
}

func TestAmend_ReplacesAllSettings(t *testing.T) {
	t.Parallel()
	other := commands.WebhookSettings{
		URL: "https://new.example.com", Types: []string{events.OutboxWalledGarden}, Description: "ERP",
	}
	given(t, registered).When(commands.AmendWebhook{WebhookID: hook, Settings: other}).
		Then(events.WebhookAmended{
			WebhookID: hook, OrgID: acme, URL: other.URL, Types: other.Types, Description: "ERP", At: now,
		})
	given(t, registered).When(commands.AmendWebhook{WebhookID: hook, Settings: settings}).ThenNothing()
	given(t).When(commands.AmendWebhook{WebhookID: hook, Settings: other}).ThenFails("webhook_not_found")
}

// Two secrets sign at most: a rotation during an overlap ends the one before the former one.
func TestRotate_TheFormerSecretSignsUntilTheOverlapIsOver(t *testing.T) {
	t.Parallel()
	rotate := func(to id.Secret, overlap time.Duration) commands.RotateWebhookSecret {
		return commands.RotateWebhookSecret{WebhookID: hook, SecretRef: to, Overlap: overlap}
	}
	rotated := events.WebhookSecretRotated{
		WebhookID: hook, OrgID: acme, SecretRef: next, FormerRef: first, FormerUntil: now.Add(time.Hour), At: now,
	}
	given(t, registered).When(rotate(next, time.Hour)).Then(rotated)
	given(t, registered, rotated).When(rotate(next, time.Hour)).ThenNothing()
	again := events.WebhookSecretRotated{
		WebhookID: hook, OrgID: acme, SecretRef: third, FormerRef: next, FormerUntil: now, EndedRef: first, At: now,
	}
	given(t, registered, rotated).When(rotate(third, 0)).Then(again)
	def := webhooks.Endpoints()
	s := def.Evolve(def.Evolve(def.Evolve(webhooks.Endpoint{}, registered), rotated), again)
	if s.Secret != third || !s.Former.IsZero() || !s.FormerUntil.IsZero() {
		t.Errorf("state %+v", s)
	}
}

// Who counted failures may be late: those from before the endpoint was enabled again are no reason.
func TestDisable_OnlyByFailuresSinceItWasEnabled(t *testing.T) {
	t.Parallel()
	fails := commands.DisableWebhook{
		WebhookID: hook, Reason: events.WebhookOffFailing, Since: at.Add(-72 * time.Hour), Failed: 20, Enabled: at,
	}
	off := events.WebhookDisabled{
		WebhookID: hook, OrgID: acme, Reason: events.WebhookOffFailing, Since: fails.Since, Failed: 20, At: now,
	}
	given(t, registered).When(fails).Then(off)
	given(t, registered, disabled, enabled).When(fails).ThenNothing()
	given(t, registered, disabled).When(fails).ThenNothing()
	asked := commands.DisableWebhook{WebhookID: hook, Reason: events.WebhookOffAsked}
	given(t, registered, disabled, enabled).When(asked).Then(events.WebhookDisabled{
		WebhookID: hook, OrgID: acme, Reason: events.WebhookOffAsked, At: now,
	})
	given(t, registered, off).When(commands.EnableWebhook{WebhookID: hook}).
		Then(events.WebhookEnabled{WebhookID: hook, OrgID: acme, At: now})
	given(t, registered).When(commands.EnableWebhook{WebhookID: hook}).ThenNothing()
}

func TestRedeliver_NeedsAnEnabledEndpointAndAPingDoesNot(t *testing.T) {
	t.Parallel()
	delivery := id.Derive[id.Delivery]("test", "one")
	again, ping := commands.RedeliverWebhook{WebhookID: hook, DeliveryID: delivery},
		commands.PingWebhook{WebhookID: hook, DeliveryID: delivery}
	given(t, registered).When(again).Then(events.WebhookRedeliveryAsked{
		WebhookID: hook, OrgID: acme, DeliveryID: delivery, At: now,
	})
	given(t, registered, disabled).When(again).ThenFails("webhook_disabled")
	given(t, registered, disabled).When(ping).Then(events.WebhookPinged{
		WebhookID: hook, OrgID: acme, DeliveryID: delivery, At: now,
	})
	given(t, registered, removed).When(ping).ThenFails("webhook_not_found")
	given(t, registered, removed).When(again).ThenFails("webhook_not_found")
}

func TestRemove_NamesAllSecrets(t *testing.T) {
	t.Parallel()
	rotated := events.WebhookSecretRotated{
		WebhookID: hook, OrgID: acme, SecretRef: next, FormerRef: first, FormerUntil: now.Add(time.Hour), At: at,
	}
	given(t, registered, rotated).When(commands.RemoveWebhook{WebhookID: hook}).Then(events.WebhookRemoved{
		WebhookID: hook, OrgID: acme, SecretRef: next, FormerRef: first, At: now,
	})
	given(t, registered, removed).When(commands.RemoveWebhook{WebhookID: hook}).ThenFails("webhook_not_found")
}

// A closed period passes on all that the next one decides by.
func TestClose_TheNextPeriodHasTheWholeState(t *testing.T) {
	t.Parallel()
	def := webhooks.Endpoints()
	s := def.Evolve(webhooks.Endpoint{}, registered)
	s = def.Evolve(s, events.WebhookSecretRotated{
		WebhookID: hook, OrgID: acme, SecretRef: next, FormerRef: first, FormerUntil: now, At: at,
	})
	reopened, err := def.Reopen(def.Close(s))
	if diff := cmp.Diff(s, reopened); diff != "" || err != nil {
		t.Errorf("(-before +after)\n%s%v", diff, err)
	}
}

func TestSettings_AFaultIsTold(t *testing.T) {
	t.Parallel()
	ok := commands.RegisterWebhook{WebhookID: hook, OrgID: acme, Place: 1, Settings: settings, SecretRef: first}
	if err := ok.Validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*commands.RegisterWebhook){
		"no address":       func(c *commands.RegisterWebhook) { c.Settings.URL = "" },
		"a relative one":   func(c *commands.RegisterWebhook) { c.Settings.URL = "/hook" },
		"another scheme":   func(c *commands.RegisterWebhook) { c.Settings.URL = "ftp://x.example" },
		"a password":       func(c *commands.RegisterWebhook) { c.Settings.URL = "https://u:p@x.example" },
		"a fragment":       func(c *commands.RegisterWebhook) { c.Settings.URL = "https://x.example/#a" },
		"a line break":     func(c *commands.RegisterWebhook) { c.Settings.URL = "https://x.example/\r\nX: y" },
		"a long one":       func(c *commands.RegisterWebhook) { c.Settings.URL += "/" + strings.Repeat("a", 2000) },
		"no type":          func(c *commands.RegisterWebhook) { c.Settings.Types = nil },
		"an unknown type":  func(c *commands.RegisterWebhook) { c.Settings.Types = []string{"invoice.eaten"} },
		"a ping":           func(c *commands.RegisterWebhook) { c.Settings.Types = []string{events.OutboxPing} },
		"a type twice":     func(c *commands.RegisterWebhook) { c.Settings.Types = slices.Repeat(settings.Types, 2) },
		"a long text":      func(c *commands.RegisterWebhook) { c.Settings.Description = strings.Repeat("é", 201) },
		"a place too many": func(c *commands.RegisterWebhook) { c.Place = commands.WebhooksPerOrganization + 1 },
		"no place":         func(c *commands.RegisterWebhook) { c.Place = 0 },
		"no secret":        func(c *commands.RegisterWebhook) { c.SecretRef = id.Secret{} },
		"no organization":  func(c *commands.RegisterWebhook) { c.OrgID = id.Organization{} },
	} {
		c := ok
		change(&c)
		if err := c.Validate(); failure.KindOf(err) != failure.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, overlap := range []time.Duration{-1, commands.MaxSecretOverlap + 1} {
		c := commands.RotateWebhookSecret{WebhookID: hook, SecretRef: next, Overlap: overlap}
		if err := c.Validate(); failure.KindOf(err) != failure.Invalid {
			t.Error(fmt.Sprint(overlap, err))
		}
	}
}
