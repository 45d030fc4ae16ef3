// Package cpecases has what people and the CPE server ask about the equipment in customers' homes.
package cpecases

import (
	"context"
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// InformSeconds is the time between two calls of a CPE. Source: docs/rules/cpe.md#online.
const InformSeconds = 300

// Types of parameters, as the CPE server names them.
const (
	TypeText    = "xsd:string"
	TypeBoolean = "xsd:boolean"
	TypeNumber  = "xsd:unsignedInt"
)

// Parameter is one setting of a CPE. The value is hidden in logs, since some are passwords.
type Parameter struct {
	Name  string
	Value secrets.Text
	Type  string // one of the types above
}

// Identification has all that a CPE is told when it has restarted or is new.
type Identification struct {
	Known      bool   // an organization has it
	OrgSlug    string // "" = none has
	Tags       []string
	Parameters []Parameter
}

// Roots of the two data models; a CPE has one of them, and setting what it does not have changes nothing. Source:
// docs/facts/genieacs.md#parameters.
const (
	tr181 = "Device."
	tr098 = "InternetGatewayDevice."
)

// pppInterfaces are the PPPoE clients of the two data models.
var pppInterfaces = []string{
	tr181 + "PPP.Interface.1.", tr098 + "WANDevice.1.WANConnectionDevice.1.WANPPPConnection.1.",
}

// Identify tells a CPE what it is, and records one that calls for the first time. A known CPE is answered from memory,
// and its password read once; a new one costs one append, for which no read model is waited. So it answers alike
// however often it is asked. One that nobody has is noted as waiting; address is the one that it tells, "" = none.
// Fails: invalid_input, cpe_serial_unusable, cpe_pending_full.
func (u CPEs) Identify(
	ctx context.Context, meta commands.Meta, named events.CpeIdentity, address string,
) (Identification, error) {
	caller := commands.NewCpeCaller(named, address)
	identify := commands.IdentifyCpe{CpeID: caller.CpeID, Identity: caller.Identity}
	if err := identify.Validate(); err != nil {
		return Identification{}, err
	}
	told, known := u.Told(identify.CpeID)
	if known && told.OrgID.IsZero() || commands.DummyCpeSerial(identify.Identity.SerialNumber) {
		if err := u.admit(ctx, caller); err != nil {
			return Identification{}, err
		}
	}
	if !known {
		var err error
		if told, err = u.unseen(ctx, identify, caller, meta); err != nil {
			return Identification{}, err
		}
	}
	u.Informs.Heard(identify.CpeID, told.OrgID)
	out, err := u.identification(ctx, told)
	if err != nil {
		return Identification{}, err
	}
	signIn, err := u.signInParameters(ctx, identify.CpeID, told, named)
	out.Parameters = append(out.Parameters, signIn...) // the last: a CPE that refuses them has the others by then
	return out, err
}

// admit notes a CPE that nobody has, and refuses one that cannot be told from others, or for which there is no room.
// Fails: cpe_serial_unusable, cpe_pending_full.
func (u CPEs) admit(ctx context.Context, caller commands.CpeCaller) error {
	refused := ""
	if commands.DummyCpeSerial(caller.Identity.SerialNumber) {
		refused = commands.CpeSerialUnusable
	}
	admitted, err := u.Informs.Admit(ctx, caller, refused)
	switch {
	case err != nil:
		return err
	case refused != "":
		return commands.ErrCpeSerialUnusable()
	case !admitted:
		return failure.NewLimited("cpe_pending_full", "So many devices wait to be claimed already.", time.Hour)
	}
	return nil
}

// unseen records a CPE that is not in memory. One that the log has is read from there: the memory can be far behind, or
// have stopped at an event, and a customer's CPE must not come back without its login.
func (u CPEs) unseen(
	ctx context.Context, identify commands.IdentifyCpe, caller commands.CpeCaller, meta commands.Meta,
) (told cpeviews.Told, err error) {
	present, _, err := bus.LoadUnchecked[cpe.CPE](ctx, u.Bus, identify.CpeID) // the CPE itself asks
	if err != nil {
		return told, err
	}
	if present.Org.IsZero() {
		if err = u.admit(ctx, caller); err == nil && present.ID.IsZero() {
			_, err = u.Bus.Execute(ctx, identify, meta)
		}
		return told, err
	}
	org, _, err := bus.LoadOwned[identity.Organization](ctx, u.Bus, present.Org, present.Org)
	if err != nil {
		return told, err
	}
	told = cpeviews.Told{
		OrgID: present.Org, OrgSlug: org.Slug, SignIn: present.SignIn, SignInProven: present.Proven,
	}
	if present.Subscription.IsZero() {
		return told, nil
	}
	line, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, present.Org, present.Subscription)
	if err != nil || line.State == subscribers.Ended {
		return told, err
	}
	plan, _, err := bus.LoadOwned[subscribers.Plan](ctx, u.Bus, present.Org, line.PlanID)
	if err != nil && failure.KindOf(err) != failure.NotFound {
		return told, err
	}
	told.Username, told.PasswordRef, told.PlanCode = line.Username.Reveal(), line.PasswordRef, plan.Code
	return told, nil
}

// identification says what a CPE gets. The password leaves the vault here, and goes nowhere but into the answer.
func (u CPEs) identification(ctx context.Context, told cpeviews.Told) (Identification, error) {
	out := Identification{
		Known: !told.OrgID.IsZero(), OrgSlug: told.OrgSlug, Tags: told.Tags(), Parameters: inform(),
	}
	if told.Username == "" {
		return out, nil
	}
	password, err := u.Passwords.Of(ctx, told.PasswordRef)
	if err != nil || password.IsZero() {
		return out, err
	}
	for _, at := range pppInterfaces {
		out.Parameters = append(out.Parameters,
			Parameter{at + "Username", secrets.Text(told.Username), TypeText},
			Parameter{at + "Password", password, TypeText}, Parameter{at + "Enable", "true", TypeBoolean})
	}
	return out, nil
}

// inform switches the periodic calls on.
func inform() []Parameter {
	var list []Parameter
	for _, root := range []string{tr181, tr098} {
		list = append(list, Parameter{root + "ManagementServer.PeriodicInformEnable", "true", TypeBoolean}, Parameter{
			root + "ManagementServer.PeriodicInformInterval", secrets.Text(strconv.Itoa(InformSeconds)), TypeNumber,
		})
	}
	return list
}
