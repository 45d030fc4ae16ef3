package webhookscases_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/webhooks"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/webhooks"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/webhooks"
)

// start is the instant of every test's clock.
var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// kit has the use cases on a real log and vault, and deliveries that the test looks at.
type kit struct {
	*coretest.Kit
	cases webhookscases.Endpoints
	acme  id.Organization
	rows  map[id.Delivery]webhooksviews.DeliveryRow
	pings []webhookscases.Ping
	again []id.Delivery
	woken int
}

// newKit makes a kit with the organization acme.
func newKit(t *testing.T) *kit {
	t.Helper()
	manual := clock.NewManual(start)
	k := &kit{
		Kit: coretest.NewWithVault(t, vault.Config{Clock: manual}), acme: id.New[id.Organization](),
		rows: map[id.Delivery]webhooksviews.DeliveryRow{},
	}
	bus.Register(k.Bus, webhooks.Endpoints())
	k.cases = webhookscases.Endpoints{
		Bus: k.Bus, Secrets: k.Vault.Secrets, Deliveries: k, Limiter: k.Vault.Limits, Clock: manual,
		Allows: func(address string) error {
			if strings.Contains(address, "inside") {
				return errors.New("must be a public address of your own system")
			}
			return nil
		},
	}
	return k
}

// Get implements webhookscases.Deliveries.
func (k *kit) Get(
	_ context.Context, org id.Organization, which id.Delivery,
) (*webhooksviews.DeliveryRow, error) {
	if row, ok := k.rows[which]; ok && row.OrgID == org {
		return &row, nil
	}
	return nil, nil
}

// Again implements webhookscases.Deliveries.
func (k *kit) Again(_ context.Context, _ id.Organization, which id.Delivery, _ time.Time) error {
	k.again = append(k.again, which)
	return nil
}

// Ping implements webhookscases.Deliveries.
func (k *kit) Ping(_ context.Context, p webhookscases.Ping, _ time.Time) error {
	k.pings = append(k.pings, p)
	return nil
}

// Wake implements webhookscases.Deliveries.
func (k *kit) Wake() { k.woken++ }

// settings are those of an endpoint of the tests.
func settings() commands.WebhookSettings {
	return commands.WebhookSettings{URL: "https://hooks.example.com", Types: []string{events.OutboxInvoiceCreated}}
}

// register makes an endpoint.
func (k *kit) register(t *testing.T, asked usecases.Asked) (id.Webhook, string) {
	t.Helper()
	which, secret, _, err := k.cases.Register(t.Context(), asked, settings())
	if err != nil {
		t.Fatal(err)
	}
	return which, secret.Reveal()
}

// state is the endpoint in the log.
func (k *kit) state(t *testing.T, which id.Webhook) webhooks.Endpoint {
	t.Helper()
	s, _, err := bus.LoadUnchecked[webhooks.Endpoint](t.Context(), k.Bus, which)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// secrets counts those in the vault.
func (k *kit) secrets(t *testing.T) (n int) {
	t.Helper()
	err := k.DB.Owner.QueryRow(t.Context(), `select count(*) from `+k.DB.Namespace.Schema("vault")+`.secrets`).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A repeat after a lost answer finds the endpoint and the same secret.
func TestRegister_ARepeatUnderItsKeyGivesTheSameSecret(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	asked := coretest.Keyed(k.acme)
	which, secret := k.register(t, asked)
	again, same := k.register(t, asked)
	if which != again || secret != same || !strings.HasPrefix(secret, "whsec_") || k.secrets(t) != 1 {
		t.Errorf("%s %s, %s %s", which, secret, again, same)
	}
	other, another := k.register(t, coretest.Keyed(k.acme))
	if other == which || another == secret {
		t.Error("two endpoints are one")
	}
	if s := k.state(t, other); s.Place != 2 || s.Org != k.acme {
		t.Errorf("the second: %+v", s)
	}
}

// Whatever is refused leaves no secret.
func TestRegister_WhatIsRefusedLeavesNoSecret(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for range commands.WebhooksPerOrganization {
		k.register(t, coretest.Ask(k.acme))
	}
	_, secret, _, err := k.cases.Register(t.Context(), coretest.Ask(k.acme), settings())
	if failure.CodeOf(err) != "webhook_limit_reached" || secret != "" {
		t.Errorf("one more: %v", err)
	}
	inside := settings()
	inside.URL = "https://inside.example.com"
	if _, _, _, err := k.cases.Register(t.Context(), coretest.Ask(k.acme), inside); !strings.Contains(
		err.Error(), "public address") || failure.KindOf(err) != failure.Invalid {
		t.Errorf("an address inside: %v", err)
	}
	if n := k.secrets(t); n != commands.WebhooksPerOrganization {
		t.Errorf("%d secrets", n)
	}
	which, _ := k.register(t, coretest.Ask(id.New[id.Organization]())) // another organization has places of its own
	if k.state(t, which).Place != 1 {
		t.Error("another organization's place")
	}
}

func TestChange_PartsOfTheSettingsAndTheState(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	which, _ := k.register(t, coretest.Ask(k.acme))
	text, off, on := " ERP ", false, true
	change := func(in webhookscases.Change) error {
		_, err := k.cases.Change(t.Context(), coretest.Ask(k.acme), which, in)
		return err
	}
	if err := change(webhookscases.Change{Description: &text, Enabled: &off}); err != nil {
		t.Fatal(err)
	}
	if s := k.state(t, which); s.Description != "ERP" || !s.Enabled.IsZero() || s.URL != settings().URL {
		t.Errorf("disabled: %+v", s)
	}
	if err := change(webhookscases.Change{Types: []string{events.OutboxWalledGarden}}); err != nil {
		t.Fatal(err)
	}
	if err := change(webhookscases.Change{Enabled: &on}); err != nil {
		t.Fatal(err)
	}
	if s := k.state(t, which); s.Enabled.IsZero() || s.Types[0] != events.OutboxWalledGarden {
		t.Errorf("enabled: %+v", s)
	}
	inside := "https://inside.example.com"
	if err := change(webhookscases.Change{URL: &inside}); failure.KindOf(err) != failure.Invalid {
		t.Errorf("an address inside: %v", err)
	}
	_, err := k.cases.Change(t.Context(), coretest.Ask(id.New[id.Organization]()), which, webhookscases.Change{})
	if failure.CodeOf(err) != "webhook_not_found" {
		t.Errorf("another organization: %v", err)
	}
}

func TestRotate_ARefusedOneLeavesTheSecretAsItIs(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	which, first := k.register(t, coretest.Ask(k.acme))
	asked := coretest.Keyed(k.acme)
	next, _, err := k.cases.Rotate(t.Context(), asked, which, time.Hour)
	again, _, fault := k.cases.Rotate(t.Context(), asked, which, time.Hour)
	if err != nil || fault != nil || next != again || next.Reveal() == first || k.secrets(t) != 2 {
		t.Errorf("%v, %v", err, fault)
	}
	stale := coretest.Ask(k.acme)
	old := uint64(0)
	stale.Meta.ExpectedRevision = &old
	if _, _, err := k.cases.Rotate(t.Context(), stale, which, 0); failure.KindOf(err) != failure.Stale {
		t.Errorf("an old revision: %v", err)
	}
	_, _, err = k.cases.Rotate(t.Context(), coretest.Ask(id.New[id.Organization]()), which, 0)
	if failure.CodeOf(err) != "webhook_not_found" || k.secrets(t) != 2 {
		t.Errorf("another organization: %v, %d secrets", err, k.secrets(t))
	}
}

func TestRedeliver_AsksOnceMoreForWhatIsTheOrganizations(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	which, _ := k.register(t, coretest.Ask(k.acme))
	row := webhooksviews.DeliveryRow{ID: id.New[id.Delivery](), OrgID: k.acme, WebhookID: which}
	k.rows[row.ID] = row
	if err := k.cases.Redeliver(t.Context(), coretest.Ask(k.acme), row.ID); err != nil || len(k.again) != 1 {
		t.Fatalf("%v, %v", err, k.again)
	}
	rival := coretest.Ask(id.New[id.Organization]())
	if err := k.cases.Redeliver(t.Context(), rival, row.ID); failure.CodeOf(err) != "delivery_not_found" {
		t.Errorf("another organization: %v", err)
	}
	if _, err := k.cases.Remove(t.Context(), coretest.Ask(k.acme), which); err != nil {
		t.Fatal(err)
	}
	err := k.cases.Redeliver(t.Context(), coretest.Ask(k.acme), row.ID)
	if failure.CodeOf(err) != "webhook_not_found" || len(k.again) != 1 {
		t.Errorf("a removed endpoint: %v", err)
	}
}

// Each ping calls an address that the organization chose: their number is bounded.
func TestPing_IsBounded(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	which, _ := k.register(t, coretest.Ask(k.acme))
	var err error
	for range 21 {
		_, err = k.cases.Ping(t.Context(), coretest.Ask(k.acme), which)
	}
	if failure.CodeOf(err) != "rate_limited" || len(k.pings) != 20 {
		t.Errorf("%v after %d pings", err, len(k.pings))
	}
	p := k.pings[0]
	if p.OrgID != k.acme || p.WebhookID != which || p.MessageID.IsZero() || p.Position == 0 || !p.At.Equal(start) {
		t.Errorf("ping %+v", p)
	}
	asked := coretest.Keyed(id.New[id.Organization]())
	if _, err := k.cases.Ping(t.Context(), asked, which); failure.CodeOf(err) != "webhook_not_found" {
		t.Errorf("another organization: %v", err)
	}
}
