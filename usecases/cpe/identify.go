// Package cpecases has what people and the CPE server ask about the equipment in customers' homes.
package cpecases

import (
	"context"
	"strconv"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/null"
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

// Identify tells a CPE what it is, and records one that calls for the first time. A known CPE costs one read, and with
// a login one of the vault; a new one costs one append, for which no read model is waited. So it answers alike however
// often it is asked. Fails: invalid_input.
func (u CPEs) Identify(ctx context.Context, meta commands.Meta, named events.CpeIdentity) (Identification, error) {
	normal := commands.NormalCpeIdentity(named)
	identify := commands.IdentifyCpe{CpeID: commands.CpeID(normal), Identity: normal}
	if err := identify.Validate(); err != nil {
		return Identification{}, err
	}
	row, err := u.Readings.Row(ctx, identify.CpeID)
	if err != nil {
		return Identification{}, err
	}
	if row == nil {
		if row, err = u.unseen(ctx, identify, meta); err != nil {
			return Identification{}, err
		}
	}
	u.Informs.Heard(row.ID, row.OrgID)
	out, err := u.told(ctx, *row)
	if err != nil {
		return Identification{}, err
	}
	signIn, err := u.signInParameters(ctx, *row, named)
	out.Parameters = append(out.Parameters, signIn...) // the last: a CPE that refuses them has the others by then
	return out, err
}

// unseen records a CPE that the read model does not have. One that the log has is read from there: the read model can
// be far behind while it is rebuilt, and a customer's CPE must not come back without its login.
func (u CPEs) unseen(
	ctx context.Context, identify commands.IdentifyCpe, meta commands.Meta,
) (*cpeviews.CPERow, error) {
	done, err := u.Bus.Execute(ctx, identify, meta)
	row := cpeviews.CPERow{ID: identify.CpeID}
	if err != nil || done.Changed {
		return &row, err
	}
	present, _, err := bus.LoadUnchecked[cpe.CPE](ctx, u.Bus, identify.CpeID) // the CPE itself asks
	if err != nil || present.Org.IsZero() {
		return &row, err
	}
	org, _, err := bus.LoadOwned[identity.Organization](ctx, u.Bus, present.Org, present.Org)
	if err != nil {
		return nil, err
	}
	row.OrgID, row.OrgSlug, row.SignIn, row.SignInProven = present.Org, &org.Slug, present.SignIn, present.Proven
	if present.Subscription.IsZero() {
		return &row, nil
	}
	line, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, present.Org, present.Subscription)
	if err != nil || line.State == subscribers.Ended {
		return &row, err
	}
	plan, _, err := bus.LoadOwned[subscribers.Plan](ctx, u.Bus, present.Org, line.PlanID)
	if err != nil && failure.KindOf(err) != failure.NotFound {
		return nil, err
	}
	row.Username, row.PasswordRef, row.PlanCode = null.Of(line.Username.Reveal()), line.PasswordRef, null.Of(plan.Code)
	return &row, nil
}

// told says what a CPE gets. The password leaves the vault here, and goes nowhere but into the answer.
func (u CPEs) told(ctx context.Context, row cpeviews.CPERow) (Identification, error) {
	out := Identification{
		Known: !row.OrgID.IsZero(), OrgSlug: null.Zero(row.OrgSlug), Tags: row.Tags(), Parameters: inform(),
	}
	username := null.Zero(row.Username)
	if username == "" {
		return out, nil
	}
	password, err := u.Readings.Password(ctx, row.PasswordRef)
	if err != nil || password.IsZero() {
		return out, err
	}
	for _, at := range pppInterfaces {
		out.Parameters = append(out.Parameters,
			Parameter{at + "Username", secrets.Text(username), TypeText},
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
