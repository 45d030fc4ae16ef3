package networkcases_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/network"
)

func TestRegister_KeepsSecretsAndGivesAPlaceInTheTunnel(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	device := k.register()
	state := k.device(device)
	if state.Org != k.org || state.Details.Name != "tower" || state.Details.CoAPort != commands.DefaultCoAPort ||
		state.Details.APIPort != commands.DefaultAPIPort || state.TunnelAddress != network.TunnelCandidate(device, 0) {
		t.Errorf("registered as %+v", state)
	}
	for ref, want := range map[id.Secret]string{
		state.RadiusRef: "radius-secret", state.APIRef: `{"username":"admin","password":"` + routerPassword + `"}`,
	} {
		if got, _ := k.secret(ref); got != want {
			t.Errorf("kept %q, want %q", got, want)
		}
	}
	if tunnel, has := k.secret(state.TunnelRef); !has || tunnel == "" {
		t.Error("the tunnel has no secret")
	}
	if len(k.polled) != 1 || k.polled[0] != device {
		t.Errorf("polled %v", k.polled)
	}
}

func TestRegister_ARepeatKeepsWhatTheRouterHas(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	asked := k.asked()
	if _, _, err := k.devices.Register(t.Context(), broken(asked), input()); failure.KindOf(err) != failure.Stale {
		t.Fatalf("a try that ends after the secrets: %v", err)
	}
	device, done, err := k.devices.Register(t.Context(), asked, input())
	if err != nil || !done.Changed {
		t.Fatalf("register: %v", err)
	}
	tunnel, _ := k.secret(k.device(device).TunnelRef)
	again, repeated, err := k.devices.Register(t.Context(), asked, input())
	if err != nil || again != device || repeated.Changed || repeated.Revision != done.Revision {
		t.Errorf("repeat: %s %+v, %v", again, repeated, err)
	}
	if now, _ := k.secret(k.device(device).TunnelRef); now != tunnel {
		t.Error("a repeat replaced the secret of the tunnel, which a script may hold")
	}
}

func TestRegister_TwiceAtOnceUnderOneKeyMakesOneRouter(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	asked := k.asked()
	var made [2]id.Device
	errs := coretest.AtOnce(len(made), func(n int) (err error) {
		made[n], _, err = k.devices.Register(t.Context(), asked, input())
		return err
	})
	if errs[0] != nil || errs[1] != nil || made[0] != made[1] {
		t.Errorf("registered %v, %v", made, errs)
	}
	if names := k.actions(commands.DeviceCategory, id.Any(made[0])); len(names) != 1 {
		t.Errorf("recorded %v", names)
	}
}

func TestRegister_PassesOverATunnelAddressThatIsTaken(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	asked := k.asked()
	device, other := usecases.NewID[id.Device](asked, "device"), id.New[id.Device]()
	wanted := network.TunnelCandidate(device, 0)
	meta := k.asked().Meta
	_, err := k.Bus.Execute(t.Context(), commands.RegisterDevice{
		DeviceID: other, OrgID: k.org, TunnelAddress: wanted, TunnelUser: "nas-other", RadiusRef: id.New[id.Secret](),
		TunnelRef: id.New[id.Secret](), Details: events.DeviceDetails{
			Name: "other", IPAddress: "203.0.113.21", CoAPort: 3799, APIPort: 80,
		},
	}, meta)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := k.devices.Register(t.Context(), asked, input()); err != nil {
		t.Fatal(err)
	}
	if got := k.device(device).TunnelAddress; got != network.TunnelCandidate(device, 1) {
		t.Errorf("got %s", got)
	}
}

func TestRegister_RefusesBadInputBeforeAnythingIsKept(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	production := k.devices
	production.ManagementAddresses = false
	port := 70_000
	type registration = networkcases.RegisterInput
	for name, c := range map[string]struct {
		change func(*registration)
		cases  networkcases.Devices
		says   string
	}{
		"no name":               {func(in *registration) { in.Name = " " }, k.devices, "name"},
		"no RADIUS secret":      {func(in *registration) { in.RadiusSecret = "" }, k.devices, "radiusSecret"},
		"user without password": {func(in *registration) { in.APIPassword = "" }, k.devices, "apiPassword"},
		"user with spaces":      {func(in *registration) { in.APIUsername = "a b" }, k.devices, "apiUsername"},
		"password with control": {func(in *registration) { in.APIPassword = "a\n" }, k.devices, "apiPassword"},
		"port":                  {func(in *registration) { in.APIPort = &port }, k.devices, "apiPort"},
		"another address in production": {
			func(*registration) {}, production, "managementAddress",
		},
	} {
		in, asked := input(), k.asked()
		c.change(&in)
		device, _, err := c.cases.Register(t.Context(), asked, in)
		if failure.KindOf(err) != failure.Invalid || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if !k.device(device).ID.IsZero() {
			t.Errorf("%s: registered", name)
		}
		if _, has := k.secret(usecases.NewID[id.Secret](asked, "device_tunnel")); has {
			t.Errorf("%s: a secret is kept", name)
		}
	}
}

func TestChangeDevice_AdoptsDetailsAndCredentials(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	device := k.register()
	before := k.device(device)
	name, user, password, radius := "north", "engineer", secrets.Text("other-password"), secrets.Text("other-secret")
	in := networkcases.DeviceChange{Name: &name, APIUsername: &user, APIPassword: &password, RadiusSecret: &radius}
	asked := k.asked()

	stale := broken(k.asked())
	if _, err := k.devices.Change(t.Context(), stale, device, in); failure.KindOf(err) != failure.Stale {
		t.Errorf("a failed If-Match: %v", err)
	}
	if now := k.device(device); !cmp.Equal(now, before) {
		t.Errorf("a failed If-Match changed %+v to %+v", before, now)
	}

	revision := uint64(0)
	asked.Meta.ExpectedRevision = &revision
	done, err := k.devices.Change(t.Context(), asked, device, in)
	if err != nil {
		t.Fatal(err)
	}
	after := k.device(device)
	if done.Revision != 3 || after.Details.Name != "north" || after.Details.IPAddress != before.Details.IPAddress {
		t.Errorf("revision %d: %+v", done.Revision, after.Details)
	}
	if got, _ := k.secret(after.RadiusRef); got != "other-secret" || after.RadiusRef == before.RadiusRef {
		t.Errorf("RADIUS secret %q", got)
	}
	if got, _ := k.secret(after.APIRef); got != `{"username":"engineer","password":"other-password"}` {
		t.Errorf("API credentials %q", got)
	}
	if again, err := k.devices.Change(t.Context(), asked, device, in); err != nil || again.Revision != done.Revision {
		t.Errorf("repeat: %+v, %v", again, err)
	}
	none, taken := "", networkcases.DeviceChange{}
	taken.APIUsername = &none
	_, err = k.devices.Change(t.Context(), k.asked(), device, taken)
	if err != nil || !k.device(device).APIRef.IsZero() {
		t.Errorf("credentials are taken away: %v", err)
	}
}

func TestChangeDevice_ARepeatGoesOnWhereTheFirstTryEnded(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	device := k.register()
	name, radius := "north", secrets.Text("other-secret")
	asked := k.asked()
	if _, err := k.devices.Change(t.Context(), asked, device, networkcases.DeviceChange{Name: &name}); err != nil {
		t.Fatal(err) // the first try changes the details and stops
	}
	in := networkcases.DeviceChange{Name: &name, RadiusSecret: &radius}
	if _, err := k.devices.Change(t.Context(), asked, device, in); err != nil {
		t.Fatal(err)
	}
	if got, _ := k.secret(k.device(device).RadiusRef); got != "other-secret" {
		t.Errorf("RADIUS secret %q", got)
	}
	if names := k.actions(commands.DeviceCategory, id.Any(device)); len(names) != 3 {
		t.Errorf("recorded %v", names)
	}
}

func TestChangeDevice_TwoAtOnceOfDifferentFieldsBothCount(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	device := k.register()
	name, address := "north", "203.0.113.77"
	changes := []networkcases.DeviceChange{{Name: &name}, {IPAddress: &address}}
	errs := coretest.AtOnce(len(changes), func(n int) error {
		_, err := k.devices.Change(t.Context(), k.asked(), device, changes[n])
		return err
	})
	if d := k.device(device).Details; errs[0] != nil || errs[1] != nil || d.Name != name || d.IPAddress != address {
		t.Errorf("%+v, %v", d, errs)
	}
}

func TestChangeDevice_RefusesBadInputAndStrangers(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	device := k.register()
	before := k.device(device)
	password, empty, elsewhere := secrets.Text("x"), secrets.Text(""), "10.99.200.9"
	production := k.devices
	production.ManagementAddresses = false
	_, err := k.devices.Change(t.Context(), k.asked(), device, networkcases.DeviceChange{APIPassword: &password})
	coretest.Refused(t, "a password without its user", err, "invalid_input")
	_, err = k.devices.Change(t.Context(), k.asked(), device, networkcases.DeviceChange{RadiusSecret: &empty})
	coretest.Refused(t, "an empty secret", err, "invalid_input")
	_, err = production.Change(t.Context(), k.asked(), device, networkcases.DeviceChange{ManagementAddress: &elsewhere})
	coretest.Refused(t, "another address in production", err, "invalid_input")
	foreign := coretest.Keyed(id.New[id.Organization]())
	_, err = k.devices.Change(t.Context(), foreign, device, networkcases.DeviceChange{})
	coretest.Refused(t, "another organization", err, "device_not_found")
	if now := k.device(device); !cmp.Equal(now, before) {
		t.Errorf("%+v became %+v", before, now)
	}
	same := before.Details.ManagementAddress
	_, err = production.Change(t.Context(), k.asked(), device, networkcases.DeviceChange{ManagementAddress: &same})
	if err != nil {
		t.Errorf("what was allowed once: %v", err)
	}
}

func TestDecommission_EndsRouterAndSecrets(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	device := k.register()
	state := k.device(device)
	_, err := k.devices.Decommission(t.Context(), coretest.Keyed(id.New[id.Organization]()), device)
	coretest.Refused(t, "another organization", err, "device_not_found")
	_, err = k.devices.Decommission(t.Context(), k.asked(), id.New[id.Device]())
	coretest.Refused(t, "no router", err, "device_not_found")

	asked := k.asked()
	_, err = k.devices.Decommission(t.Context(), broken(asked), device)
	coretest.Refused(t, "a try that ends after the address plan", err, "stale_revision")
	if k.device(device).Decommissioned {
		t.Fatal("decommissioned all the same")
	}
	done, err := k.devices.Decommission(t.Context(), asked, device)
	if err != nil || !done.Changed || !k.device(device).Decommissioned {
		t.Fatalf("repeat: %+v, %v", done, err)
	}
	for _, ref := range []id.Secret{state.APIRef, state.TunnelRef} {
		if _, has := k.secret(ref); has {
			t.Error("a secret is left")
		}
	}
	if _, has := k.secret(state.RadiusRef); !has {
		t.Error("who ends the sessions of the router has no secret")
	}
	if len(k.forgotten) != 1 || k.forgotten[0] != device {
		t.Errorf("forgotten: %v", k.forgotten)
	}
	coretest.Refused(t, "use afterwards", networkcases.OwnDevice(t.Context(), k.Bus, k.org, device), "device_not_found")

	// After a crash before the secrets were deleted, the next try deletes them.
	left := vault.Secret{Ref: state.TunnelRef, OrgID: k.org, Purpose: "device_tunnel"}
	if err := k.Vault.Secrets.Put(t.Context(), left, []byte("tunnel-secret")); err != nil {
		t.Fatal(err)
	}
	_, err = k.devices.Decommission(t.Context(), asked, device)
	coretest.Refused(t, "a router that is gone", err, "device_not_found")
	if _, has := k.secret(state.TunnelRef); has {
		t.Error("what a crash left is still there")
	}
}

func TestDecommission_RefusesARouterWithServices(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	device := k.register()
	take := commands.AllocateAddresses{
		OrgID: k.org, ServiceID: id.New[id.Service](), DeviceID: device,
		Binding: events.ServiceBinding{Type: events.ServicePPPoE, ParentInterface: "ether4"},
	}
	if _, err := k.Bus.Execute(t.Context(), take, k.asked().Meta); err != nil {
		t.Fatal(err)
	}
	_, err := k.devices.Decommission(t.Context(), k.asked(), device)
	coretest.Refused(t, "a router with services", err, "device_has_services")
	if _, _, err := bus.LoadOwned[network.Device](t.Context(), k.Bus, k.org, device); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if _, has := k.secret(k.device(device).RadiusRef); !has || len(k.forgotten) != 0 {
		t.Error("a refused end dropped something")
	}
}

func TestChangeDevice_OfTwoAtOnceOfTheSameSecretOneIsRefused(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	device := k.register()
	before := k.device(device).RadiusRef
	given := []secrets.Text{"first-secret", "second-secret"}
	errs := coretest.AtOnce(2, func(n int) error {
		_, err := k.devices.Change(t.Context(), k.asked(), device, networkcases.DeviceChange{RadiusSecret: &given[n]})
		return err
	})
	winner := slices.Index(errs, nil)
	if winner < 0 {
		t.Fatalf("both are refused: %v", errs)
	}
	if errs[1-winner] != nil {
		coretest.Refused(t, "the other", errs[1-winner], "concurrent_change")
		if plain, _ := k.secret(k.device(device).RadiusRef); plain != string(given[winner]) {
			t.Errorf("the secret is %q", plain)
		}
	}
	if k.device(device).RadiusRef == before {
		t.Error("no secret was adopted")
	}
}

func TestChangeDevice_TheSecretsOfARefusedChangeAreNotKept(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	device := k.register()
	refused := id.New[id.Secret]()
	secret := vault.Secret{Ref: refused, OrgID: k.org, Purpose: commands.DeviceSecretPurpose(events.CredentialRadius)}
	if err := k.Vault.Secrets.Put(t.Context(), secret, []byte("too-late")); err != nil {
		t.Fatal(err)
	}
	_, err := k.devices.Adopt(t.Context(), k.asked(), commands.ReplaceDeviceCredentials{
		DeviceID: device, Kind: events.CredentialRadius, From: id.New[id.Secret](), Ref: refused,
	})
	coretest.Refused(t, "a change from a secret that is not the present one", err, "concurrent_change")
	if _, has := k.secret(refused); has {
		t.Error("the secret of the refused change is still stored")
	}
	if _, has := k.secret(k.device(device).RadiusRef); !has {
		t.Error("the router's own secret is gone")
	}
}

func TestRegister_TheSecretsOfARefusedRegistrationAreNotKept(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	secret := func(a usecases.Asked, kind events.CredentialKind) bool {
		_, has := k.secret(usecases.NewID[id.Secret](a, commands.DeviceSecretPurpose(kind)))
		return has
	}
	asked := k.asked()
	taken := "nas-" + strings.ReplaceAll(usecases.NewID[id.Device](asked, "device").String(), "-", "")
	if _, err := k.Bus.Execute(t.Context(), commands.RegisterDevice{
		DeviceID: id.New[id.Device](), OrgID: k.org, TunnelAddress: "10.99.0.9", TunnelUser: taken,
		RadiusRef: id.New[id.Secret](), TunnelRef: id.New[id.Secret](), Details: events.DeviceDetails{
			Name: "other", IPAddress: "203.0.113.21", CoAPort: 3799, APIPort: 80,
		},
	}, k.asked().Meta); err != nil {
		t.Fatal(err)
	}
	_, _, err := k.devices.Register(t.Context(), asked, input())
	coretest.Refused(t, "a user of the tunnel that another router has", err, "tunnel_user_taken")
	accepted := k.asked()
	if _, _, err := k.devices.Register(t.Context(), accepted, input()); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []events.CredentialKind{
		events.CredentialRadius, events.CredentialAPI, events.CredentialTunnel,
	} {
		if secret(asked, kind) {
			t.Errorf("the %s secret of the refused registration is still stored", kind)
		}
		if !secret(accepted, kind) {
			t.Errorf("the %s secret of the registered router is gone", kind)
		}
	}
}
