package cpecases_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases/cpe"
)

// operating has a CPE that an organization has claimed.
func operating(t *testing.T) (*kit, cpecases.Operations, id.Organization) {
	t.Helper()
	k := newKit(t)
	bus.Register(k.Kit.Bus, cpe.Operations())
	k.asks(box)
	acme := id.New[id.Organization]()
	if _, err := k.Claim(t.Context(), coretest.Ask(acme), cpecases.Claim{CpeID: commands.CpeID(box)}); err != nil {
		t.Fatal(err)
	}
	return k, cpecases.Operations{
		Bus: k.Kit.Bus, Secrets: k.Vault.Secrets, Clock: clock.System(), Limiter: vault.NewLocalLimits(clock.System()),
		Waiting: func(context.Context, id.Organization, id.CPE, time.Time) (int, error) { return 0, nil },
		Allows: func(address string) error {
			if strings.Contains(address, "127.0.0.1") {
				return errors.New("must not be an address of this machine")
			}
			return nil
		},
	}, acme
}

// TestQueue_ADeviceThatDoesNotComeIsNotAskedWithoutALimit: nothing is kept of what is refused, and a repeat of what was
// taken is none.
func TestQueue_ADeviceThatDoesNotComeIsNotAskedWithoutALimit(t *testing.T) {
	t.Parallel()
	k, u, acme := operating(t)
	waiting, asked := 19, coretest.Keyed(acme)
	u.Waiting = func(_ context.Context, org id.Organization, of id.CPE, since time.Time) (int, error) {
		if ago := time.Since(since); org != acme || of != commands.CpeID(box) || ago < time.Hour {
			t.Errorf("counted %s of %s since %s", of, org, since)
		}
		return waiting, nil
	}
	in := cpecases.Wifi{SSID: "home", Password: "s3cret-key"}
	for range 2 {
		if _, _, err := u.Wifi(t.Context(), asked, commands.CpeID(box), in); err != nil {
			t.Fatal(err)
		}
		waiting = 20
	}
	if _, _, err := u.Wifi(t.Context(), coretest.Ask(acme), commands.CpeID(box), in); failure.CodeOf(err) !=
		"cpe_operations_full" {
		t.Errorf("%v", err)
	}
	_, _, err := u.Act(t.Context(), coretest.Ask(acme), commands.CpeID(box), events.CpeReboot)
	if n := k.secrets(); failure.CodeOf(err) != "cpe_operations_full" || n != 1 {
		t.Errorf("%v, and %d values are kept", err, n)
	}
}

// TestQueue_WhatEndsQuicklyIsNotAskedForWithoutALimit: of a device that comes at once nothing waits. A customer leaves
// the people of the organization theirs, and a repeat is none.
func TestQueue_WhatEndsQuicklyIsNotAskedForWithoutALimit(t *testing.T) {
	t.Parallel()
	k, u, acme := operating(t)
	of, amina := commands.CpeID(box), id.New[id.Subscriber]()
	k.Run(t, coretest.Operator(acme), coretest.NewSubscriber(amina, acme, 0))
	k.Run(t, coretest.Operator(acme), commands.AssignSubscriberToCpe{
		CpeID: of, SubscriberID: amina, SubscriptionID: k.line(acme, amina),
	})
	own, asked := cpecases.Wifi{SSID: "home", Password: "s3cret-key", Of: amina}, coretest.Keyed(acme)
	for range 20 {
		asked = coretest.Keyed(acme)
		if _, _, err := u.Wifi(t.Context(), asked, of, own); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := u.Wifi(t.Context(), asked, of, own); err != nil {
		t.Errorf("a repeat: %v", err)
	}
	if _, _, err := u.Wifi(t.Context(), coretest.Ask(acme), of, own); failure.CodeOf(err) != "rate_limited" {
		t.Errorf("the next one of the customer: %v", err)
	}
	for range 120 {
		if _, _, err := u.Ping(t.Context(), coretest.Ask(acme), of, "8.8.8.8"); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := u.Ping(t.Context(), coretest.Ask(acme), of, "8.8.8.8")
	if failure.CodeOf(err) != "rate_limited" {
		t.Errorf("the next one of the organization: %v", err)
	}
}

// TestQueue_TheValuesWaitInTheVaultAlone: no event and no state has them.
func TestQueue_TheValuesWaitInTheVaultAlone(t *testing.T) {
	t.Parallel()
	k, u, acme := operating(t)
	asked, in := coretest.Keyed(acme), cpecases.Wifi{SSID: "Home of Amina", Password: "s3cret-key"}
	operation, done, err := u.Wifi(t.Context(), asked, commands.CpeID(box), in)
	if err != nil || !done.Changed {
		t.Fatal(err)
	}
	again, _, err := u.Wifi(t.Context(), asked, commands.CpeID(box), in)
	if err != nil || again != operation {
		t.Errorf("a repeat is %s, %v", again, err)
	}
	present, _, err := bus.LoadOwned[cpe.Operation](t.Context(), k.Kit.Bus, acme, operation)
	if err != nil || present.State != cpe.Queued || present.Kind != events.CpeWifi || !present.CallNow {
		t.Fatalf("%+v, %v", present, err)
	}
	kept, err := k.Vault.Secrets.Get(t.Context(), present.Values)
	if err != nil || !strings.Contains(string(kept), "s3cret-key") || !strings.Contains(string(kept), "Amina") {
		t.Errorf("the vault has %s, %v", kept, err)
	}
	list, err := bus.HistoryUnchecked[cpe.Operation](t.Context(), k.Kit.Bus, operation)
	log := fmt.Sprintf("%#v", list)
	if err != nil || strings.Contains(log, "s3cret") || strings.Contains(log, "Amina") {
		t.Errorf("the log has %s, %v", log, err)
	}
	if err := k.Vault.Secrets.Delete(t.Context(), present.Values); err != nil { // the operation has ended
		t.Fatal(err)
	}
	k.Run(t, coretest.Operator(acme), commands.FailCpeOperation{OperationID: operation, Code: "cwmp.9007"})
	if _, _, err := u.Wifi(t.Context(), asked, commands.CpeID(box), in); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Vault.Secrets.Get(t.Context(), present.Values); failure.CodeOf(err) != "secret_not_found" {
		t.Errorf("a late repeat left values in the vault: %v", err)
	}
}

// TestQueue_BadInputIsRefusedBeforeAnythingIsKept.
func TestQueue_BadInputIsRefusedBeforeAnythingIsKept(t *testing.T) {
	t.Parallel()
	k, u, acme := operating(t)
	ctx, of := t.Context(), commands.CpeID(box)
	refused := func(what string, err error) {
		t.Helper()
		if failure.CodeOf(err) != "invalid_input" {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, w := range []cpecases.Wifi{
		{Password: "s3cret-key"}, {SSID: strings.Repeat("a", 33), Password: "s3cret-key"},
		{SSID: "a\nb", Password: "s3cret-key"}, {SSID: "home", Password: "s3cret-"},
		{SSID: "home", Password: secrets.Text(strings.Repeat("a", 64))}, {SSID: "home", Password: "sécrèt-kéy"},
		{SSID: strings.Repeat("é", 17), Password: "s3cret-key"},
	} {
		_, _, err := u.Wifi(ctx, coretest.Ask(acme), of, w)
		refused(w.SSID, err)
	}
	for _, list := range [][]commands.CpeValue{
		nil, {{Name: "Device.ManagementServer.URL", Value: "http://elsewhere"}},
		{{Name: "Device.PPP.Interface.1.Password", Value: "x"}}, {{Name: "x", Value: "y"}},
		{{Name: "Device.DeviceInfo.ProvisioningCode", Value: strings.Repeat("x", 1025)}},
		slices.Repeat([]commands.CpeValue{{Name: "Device.DeviceInfo.ProvisioningCode"}}, 101),
	} {
		_, _, err := u.Parameters(ctx, coretest.Ask(acme), of, list, true)
		refused("parameters", err)
	}
	for _, host := range []string{"", "-a", "a b", "a;reboot", strings.Repeat("a", 254)} {
		_, _, err := u.Ping(ctx, coretest.Ask(acme), of, host)
		refused(host, err)
	}
	for _, address := range []string{
		"ftp://a/b", "http://user:password@a/b", "http://127.0.0.1/x", "//a/b", "http://a/b c", "http:///x",
		"http://a/" + strings.Repeat("x", 250),
	} {
		_, _, err := u.Transfer(ctx, coretest.Ask(acme), of, events.CpeSpeedTest, "downloadUrl", address)
		refused(address, err)
	}
	if n := k.secrets(); n != 0 {
		t.Errorf("%d values were kept", n)
	}
}

// TestQueue_OnlyTheOwnerWritesToADevice, and leaves nothing in the vault when it is refused.
func TestQueue_OnlyTheOwnerWritesToADevice(t *testing.T) {
	t.Parallel()
	k, u, acme := operating(t)
	ctx, of, in := t.Context(), commands.CpeID(box), cpecases.Wifi{SSID: "home", Password: "s3cret-key"}
	for org, device := range map[id.Organization]id.CPE{id.New[id.Organization](): of, acme: id.New[id.CPE]()} {
		if _, _, err := u.Wifi(ctx, coretest.Ask(org), device, in); failure.CodeOf(err) != "cpe_not_found" {
			t.Errorf("%v", err)
		}
		_, _, err := u.Act(ctx, coretest.Ask(org), device, events.CpeFactoryReset)
		if failure.CodeOf(err) != "cpe_not_found" {
			t.Errorf("%v", err)
		}
	}
	in.Of = id.New[id.Subscriber]() // a customer who had it until a moment ago
	if _, _, err := u.Wifi(ctx, coretest.Ask(acme), of, in); failure.CodeOf(err) != "cpe_not_found" {
		t.Errorf("%v", err)
	}
	in.Of = id.Subscriber{}
	stale := uint64(7)
	asked := coretest.Ask(acme)
	asked.Meta.ExpectedRevision = &stale
	if _, _, err := u.Wifi(ctx, asked, of, in); failure.CodeOf(err) != "stale_revision" {
		t.Errorf("%v", err)
	}
	if n := k.secrets(); n != 0 {
		t.Errorf("%d values were kept", n)
	}
	in.Of = id.New[id.Subscriber]()
	k.Run(t, coretest.Operator(acme), commands.AssignSubscriberToCpe{CpeID: of, SubscriberID: in.Of})
	if _, _, err := u.Wifi(ctx, coretest.Ask(acme), of, in); err != nil {
		t.Error(err)
	}
	for _, kind := range []events.CpeOperationKind{events.CpeReboot, events.CpeFactoryReset} {
		if _, _, err := u.Act(ctx, coretest.Ask(acme), of, kind); err != nil {
			t.Error(err)
		}
	}
	_, _, err := u.Parameters(ctx, coretest.Ask(acme), of, []commands.CpeValue{
		{Name: "Device.DeviceInfo.ProvisioningCode", Value: "spare"},
	}, false)
	if err != nil {
		t.Error(err)
	}
	if _, _, err := u.Ping(ctx, coretest.Ask(acme), of, "192.0.2.1"); err != nil {
		t.Error(err)
	}
	_, _, err = u.Transfer(ctx, coretest.Ask(acme), of, events.CpeUploadTest, "uploadUrl", "")
	if err != nil {
		t.Error(err)
	}
}

// secrets counts what is in the vault.
func (k *kit) secrets() (n int) {
	k.t.Helper()
	err := k.DB.Owner.QueryRow(k.t.Context(), "select count(*)::int from "+k.DB.Namespace.Schema("vault")+".secrets").
		Scan(&n)
	if err != nil {
		k.t.Fatal(err)
	}
	return n
}
