package cpejobs_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/cpe"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// TestTag_MendsWhereTheCallsOfACpeAreCounted: the program that claimed it has died before it could move them, or had no
// database for a moment. There is no CPE server here.
func TestTag_MendsWhereTheCallsOfACpeAreCounted(t *testing.T) {
	t.Parallel()
	kit := coretest.New(t, clock.System(), cpeviews.CPEs{})
	bus.Register(kit.Bus, cpe.CPEs())
	informs, now := open(t)
	views, acme := kit.Show(t), id.New[id.Organization]()
	identity := events.CpeIdentity{SerialNumber: "SN-1", OUI: "00AABB"}
	box := commands.CpeID(identity)
	kit.Run(t, coretest.Operator(id.Organization{}), commands.IdentifyCpe{CpeID: box, Identity: identity})
	informs.Heard(box, id.Organization{})
	written(t, informs)
	done := kit.Run(t, coretest.Operator(acme), commands.ClaimCpe{CpeID: box, OrgID: acme})
	following := cpejobs.Following{Informs: informs, Rows: cpeviews.CPEsQuery{Views: views}}
	for range 2 { // again it changes nothing
		err := following.Tag(t.Context(), commands.TagCpe{CpeID: box, Position: done.Position}, jobs.Cause{})
		if err != nil {
			t.Fatal(err)
		}
		counts(t, informs, acme, now.Now(), 1)
	}
}

// TestTag_ADeviceThatCannotBeNamedIsNotTriedForEver: the CPE server could not be asked for it. It gets its tags when it
// calls.
func TestTag_ADeviceThatCannotBeNamedIsNotTriedForEver(t *testing.T) {
	t.Parallel()
	kit := coretest.New(t, clock.System(), cpeviews.CPEs{})
	bus.Register(kit.Bus, cpe.CPEs())
	informs, _ := open(t)
	following := cpejobs.Following{
		Gateway: serve(t).Gateway, Informs: informs, Rows: cpeviews.CPEsQuery{Views: kit.Show(t)},
	}
	for _, serial := range []string{strings.Repeat("\U0001F600", 64), "A*1"} {
		identity := events.CpeIdentity{SerialNumber: serial, OUI: "00D09E", ProductClass: "HomeBox-2"}
		box := commands.CpeID(identity)
		identify := commands.IdentifyCpe{CpeID: box, Identity: identity}
		done := kit.Run(t, coretest.Operator(id.Organization{}), identify)
		args := commands.TagCpe{CpeID: box, Position: done.Position}
		if err := following.Tag(t.Context(), args, jobs.Cause{}); err != nil {
			t.Errorf("%s: %v", serial, err)
		}
	}
}

// TestTag_ATagThatCannotBeNamedHoldsUpNoRelease: a script has set one that is longer than the names that the server is
// told. The others go at once, the pauses end, and the device loses that one at its next call.
func TestTag_ATagThatCannotBeNamedHoldsUpNoRelease(t *testing.T) {
	t.Parallel()
	kit := coretest.New(t, clock.System(), cpeviews.CPEs{})
	bus.Register(kit.Bus, cpe.CPEs())
	informs, _ := open(t)
	views, s := kit.Show(t), serve(t)
	if _, err := s.Gateway.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
	device := genieacs.DeviceID(s.device)
	identity := events.CpeIdentity{SerialNumber: "SN-1", OUI: "00D09E", ProductClass: "HomeBox-2"}
	box := commands.CpeID(identity)
	done := kit.Run(t, coretest.Operator(id.Organization{}), commands.IdentifyCpe{CpeID: box, Identity: identity})
	for _, tag := range []string{"org:acme", "acme-x", "acme-" + strings.Repeat("x", 300), "acme-y"} {
		s.tagged(tag)
	}
	const broken = `log(declare("Device.None", {value: 1}).value[0]);`
	err := errors.Join(s.Gateway.PutProvision(t.Context(), "acme-broken", broken),
		s.Gateway.PutPreset(t.Context(), genieacs.Preset{
			Name: "acme-broken", Channel: "acme-broken", Weight: 20, Provision: "acme-broken",
			Precondition: "Tags.org0x3Aacme IS NOT NULL", Version: 1,
		}))
	if err = errors.Join(err, s.sim.Inform(s.device, "2 PERIODIC")); err != nil {
		t.Fatal(err)
	}
	s.idle()
	following := cpejobs.Following{
		Gateway: s.Gateway, Informs: informs, Rows: cpeviews.CPEsQuery{Views: views}, Pauses: cpejobs.Pauses{
			Gateway: s.Gateway, Informs: informs,
			Scripts: func(context.Context, []string) ([]cpeviews.ProvisionRow, error) {
				return []cpeviews.ProvisionRow{{StoredName: "acme-broken"}}, nil
			},
		},
	}
	err = following.Tag(t.Context(), commands.TagCpe{CpeID: box, Position: done.Position}, jobs.Cause{})
	if err != nil {
		t.Fatal(err)
	}
	has, err := s.Gateway.Device(t.Context(), device)
	if err != nil || len(has.Tags) != 2 || !slices.Contains(has.Tags, genieacs.LeftOrganization+"acme") {
		t.Errorf("it has tags %v (%v)", has.Tags, err)
	}
	if faults, err := s.Gateway.DeviceFaults(t.Context(), device); err != nil || len(faults) > 0 {
		t.Errorf("it has faults %v (%v)", faults, err)
	}
	if err := s.sim.Inform(s.device, "2 PERIODIC"); err != nil {
		t.Fatal(err)
	}
	s.idle()
	if has, err = s.Gateway.Device(t.Context(), device); err != nil || len(has.Tags) > 0 {
		t.Errorf("after its call it has tags %v (%v)", has.Tags, err)
	}
}

// tagged puts a tag on the device, as somebody else does.
func (s served) tagged(tag string) {
	s.t.Helper()
	at := s.sim.URL() + "/devices/" + strings.ReplaceAll(s.device, "%", "%25") + "/tags/" +
		strings.ReplaceAll(tag, ":", "%3A")
	answer, err := http.Post(at, "", nil) //nolint:noctx // a test
	if err != nil || answer.StatusCode != http.StatusOK {
		s.t.Fatalf("tag %s: %v (%v)", tag, answer, err)
	}
	_ = answer.Body.Close()
}
