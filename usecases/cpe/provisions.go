package cpecases

import (
	"cmp"
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/acstag"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Provisions writes and removes provisions of organizations. All fields are required. Safe for concurrent use.
type Provisions struct {
	Bus *bus.Bus
	// Ready fails while the CPE server is out of reach, or when there is none.
	Ready func() error
	// Check finds what a script does that a provision of an organization may not; the names of its tags begin with
	// tagPrefix. Line 0 = it may all; else the text says what is wrong there. Fails: parsing_busy.
	Check   func(ctx context.Context, org id.Organization, source, tagPrefix string) (line int, text string, err error)
	Limiter vault.Limiter // counts scripts, also those that are refused
}

// scriptsPerHour bounds the scripts that an organization sends: each is checked in a process of its own, and what is
// taken is in the log for ever with its text, and is brought to the CPE server.
const scriptsPerHour = 60

// Write checks a script and records it, or another version of it; it is brought to the CPE server afterwards. Reading
// the script costs most, so everything else is checked first. Fails:
// cpe_server_not_set_up, cpe_server_unavailable, invalid_input, provision_refused, provision_name_taken,
// provision_limit_reached, rate_limited, parsing_busy.
func (u Provisions) Write(
	ctx context.Context, asked usecases.Asked, name, source string,
) (id.CPEProvision, bus.Result, error) {
	org, _, err := bus.LoadOwned[identity.Organization](ctx, u.Bus, asked.Org(), asked.Org())
	if err != nil {
		return id.CPEProvision{}, bus.Result{}, err
	}
	command := commands.WriteCpeProvision{
		ProvisionID: commands.CpeProvisionID(asked.Org(), name), OrgID: asked.Org(), Name: name,
		StoredName: commands.StoredCpeProvision(org.Slug, name), Place: 1, Script: source,
		Tag: cpeviews.TagOrganization + acstag.Name(org.Slug),
	}
	err = cmp.Or(command.Validate(), u.Ready())
	if err == nil {
		err = atMost(ctx, u.Limiter, "cpe provisions:"+asked.Org().String(), scriptsPerHour)
	}
	if err == nil {
		err = u.allowed(ctx, org, source)
	}
	if err != nil {
		return command.ProvisionID, bus.Result{}, err
	}
	var done bus.Result
	for ; command.Place <= commands.CpeProvisionsPerOrganization; command.Place++ {
		done, err = u.Bus.Execute(ctx, command, asked.Meta)
		if failure.CodeOf(err) != "provision_place_taken" {
			return command.ProvisionID, done, err
		}
	}
	return command.ProvisionID, done, failure.NewConflict("provision_limit_reached",
		"Your organization has as many provisions as it may have. Delete one that is no longer used.")
}

// allowed refuses a script that does more than a provision of an organization may. Fails: provision_refused,
// parsing_busy.
func (u Provisions) allowed(ctx context.Context, org identity.Organization, source string) error {
	line, text, err := u.Check(ctx, org.ID, source, org.Slug+"-")
	if line > 0 {
		return failure.New(failure.Invalid, "provision_refused", "Line %d of the script: %s.", line, text).
			With("line", line)
	}
	return err
}

// Remove takes a script of the organization back; it is taken from the CPE server afterwards. Fails:
// provision_not_found.
func (u Provisions) Remove(ctx context.Context, asked usecases.Asked, name string) (bus.Result, error) {
	of := commands.CpeProvisionID(asked.Org(), name)
	if _, _, err := bus.LoadOwned[cpe.Provision](ctx, u.Bus, asked.Org(), of); err != nil {
		return bus.Result{}, err
	}
	return u.Bus.Execute(ctx, commands.RemoveCpeProvision{ProvisionID: of}, asked.Meta)
}
