package networkcases_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/usecases/network"
)

// changed changes a router by a request of its own.
func (k *kit) changed(device id.Device, in networkcases.DeviceChange) error {
	k.t.Helper()
	_, err := k.devices.Change(k.t.Context(), k.asked(), device, in)
	return err
}

func TestDevices_ANewSecretHasALength(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	older := k.register() // with a short one
	k.devices.SecretLength = 16
	in, short, long := input(), secrets.Text(strings.Repeat("s", 15)), secrets.Text(strings.Repeat("s", 16))
	in.RadiusSecret = short
	_, _, err := k.devices.Register(t.Context(), k.asked(), in)
	coretest.Refused(t, "a new router with a short one", err, "invalid_input")
	in.RadiusSecret = long
	if _, _, err = k.devices.Register(t.Context(), k.asked(), in); err != nil {
		t.Errorf("a new router with a long one: %v", err)
	}
	err = k.changed(older, networkcases.DeviceChange{RadiusSecret: &short})
	coretest.Refused(t, "another one that is short", err, "invalid_input")
	name, its := "north", input().RadiusSecret
	if err := k.changed(older, networkcases.DeviceChange{Name: &name, RadiusSecret: &its}); err != nil {
		t.Errorf("the one that it has: %v", err)
	}
	if err := k.changed(older, networkcases.DeviceChange{RadiusSecret: &long}); err != nil {
		t.Errorf("a long one: %v", err)
	}
}

func TestDevices_TheSecretThatARouterHasIsNoChange(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	device := k.register()
	before, same := k.device(device).RadiusRef, input().RadiusSecret
	if err := k.changed(device, networkcases.DeviceChange{RadiusSecret: &same}); err != nil {
		t.Fatal(err)
	}
	if now := k.device(device).RadiusRef; now != before {
		t.Error("the same secret got another reference: its claim to the address would begin anew")
	}
	if err := k.Vault.Secrets.Delete(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	if err := k.changed(device, networkcases.DeviceChange{RadiusSecret: &same}); err != nil {
		t.Fatal(err)
	}
	if plain, has := k.secret(k.device(device).RadiusRef); !has || plain != string(same) {
		t.Error("a secret that was lost does not come back")
	}
}

// TestDevices_AnAddressIsClaimedABoundedNumberOfTimes: each claim is a guess at the secrets of others at the address.
func TestDevices_AnAddressIsClaimedABoundedNumberOfTimes(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	device, elsewhere := k.register(), k.register()
	here, there := input().IPAddress, "198.51.100.80"
	guess := func(n int) networkcases.DeviceChange {
		secret := secrets.Text(fmt.Sprintf("guess-%d", n))
		return networkcases.DeviceChange{RadiusSecret: &secret}
	}
	if err := k.changed(elsewhere, networkcases.DeviceChange{IPAddress: &there}); err != nil {
		t.Fatal(err)
	}
	for n := range 60 {
		if err := k.changed(device, guess(n)); err != nil {
			t.Fatalf("claim %d: %v", n, err)
		}
	}
	name, before := "north", k.device(device)
	coretest.Refused(t, "one secret more", k.changed(device, guess(60)), "rate_limited")
	coretest.Refused(t, "a move to the address", k.changed(elsewhere, networkcases.DeviceChange{IPAddress: &here}),
		"rate_limited")
	if now := k.device(device); now.RadiusRef != before.RadiusRef {
		t.Error("what was refused was adopted")
	}
	if err := k.changed(device, networkcases.DeviceChange{Name: &name}); err != nil {
		t.Errorf("what is no claim: %v", err)
	}
	if err := k.changed(elsewhere, guess(61)); err != nil {
		t.Errorf("a secret at another address: %v", err)
	}
	k.devices.PerAddress = 100
	k.devices.CountAt = func(context.Context, id.Organization, string) (int, error) { return 0, nil }
	_, _, err := k.devices.Register(t.Context(), k.asked(), input())
	coretest.Refused(t, "one router more", err, "rate_limited")
	if _, _, err := k.devices.Register(t.Context(), coretest.Keyed(id.New[id.Organization]()), input()); err != nil {
		t.Errorf("another organization: %v", err)
	}
}
