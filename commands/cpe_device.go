package commands

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// CpeCategory begins the names of the streams of CPEs.
const CpeCategory = "cpe"

// Limits of what a CPE says about itself, in characters. Source: docs/rules/cpe.md#identity.
const (
	maxCpeSerial  = 64
	maxCpeOUI     = 16
	maxCpeClass   = 64
	maxCpeDetail  = 128
	maxCpeLabel   = 60
	maxCpeAddress = 120
	maxCpeChannel = 500
)

// CpeCommand acts on one CPE.
//
//sumtype:decl
type CpeCommand interface {
	Command
	cpeCommand()
}

// CpeID is the id of the CPE with an identity in the form of NormalCpeIdentity. Whoever sees it first makes the same
// stream, so that two first calls at once make one CPE.
func CpeID(i events.CpeIdentity) id.CPE {
	return id.Derive[id.CPE]("cpe", i.OUI, i.ProductClass, i.SerialNumber)
}

// NormalCpeIdentity writes an identity in the form in which two are compared: without space around it, and the OUI in
// capitals. Serial numbers and product classes stay as the manufacturer writes them.
func NormalCpeIdentity(i events.CpeIdentity) events.CpeIdentity {
	return events.CpeIdentity{
		SerialNumber: strings.TrimSpace(i.SerialNumber), OUI: strings.ToUpper(strings.TrimSpace(i.OUI)),
		ProductClass: strings.TrimSpace(i.ProductClass),
	}
}

// IdentifyCpe records a CPE that calls for the first time; a known one stays as it is.
type IdentifyCpe struct {
	CpeID    id.CPE
	Identity events.CpeIdentity // in normal form
}

// LearnCpeDetails records what the CPE server knows, when that is new. Fails: cpe_not_found.
type LearnCpeDetails struct {
	CpeID   id.CPE
	Details events.CpeDetails
}

// ClaimCpe takes a CPE of nobody for an organization. The caller has made sure that the organization has subscriber and
// subscription. Fails: cpe_not_found, already_claimed.
type ClaimCpe struct {
	CpeID          id.CPE
	OrgID          id.Organization
	SubscriberID   id.Subscriber   // zero = only the organization is known
	SubscriptionID id.Subscription // zero = the customer has no service
	Label          personal.Text
	Location       personal.Text
}

// AssignCpe is ClaimCpe by the platform.
type AssignCpe struct {
	CpeID          id.CPE
	OrgID          id.Organization
	SubscriberID   id.Subscriber
	SubscriptionID id.Subscription
}

// AssignSubscriberToCpe says whose CPE it is from now on. The caller has made sure that the organization has both.
// Fails: cpe_not_found.
type AssignSubscriberToCpe struct {
	CpeID          id.CPE
	SubscriberID   id.Subscriber
	SubscriptionID id.Subscription // zero = the customer has no service
	PushNow        bool
}

// ReleaseCpe gives a CPE up, so that it can be claimed again. Fails: cpe_not_found.
type ReleaseCpe struct {
	CpeID id.CPE
}

// ClearCpeFault says that the CPE server is to forget a fault of a CPE. Fails: cpe_not_found.
type ClearCpeFault struct {
	CpeID   id.CPE
	Channel string
	Code    string
}

// ProveCpeSignIn says that a CPE has shown its password, which it must from now on. That of before is no proof.
type ProveCpeSignIn struct {
	CpeID  id.CPE
	SignIn int // as in CpeSignInRef
}

// EndCpeSignIn lets a CPE in without its password until it has shown a new one. Fails: cpe_not_found.
type EndCpeSignIn struct {
	CpeID id.CPE
}

// CpeSignInPurpose is the use of the passwords of CPEs at the CPE server, in the vault.
const CpeSignInPurpose = "cpe_sign_in"

// CpeSignInRef is where the vault has the password of a CPE at the CPE server. signIn counts those that are worth
// nothing any more, so that each new one has a place of its own.
func CpeSignInRef(cpe id.CPE, signIn int) id.Secret {
	return id.Derive[id.Secret]("cpe sign-in", cpe.String(), strconv.Itoa(signIn))
}

func (IdentifyCpe) CommandName() string           { return "cpe.IdentifyCpe" }
func (LearnCpeDetails) CommandName() string       { return "cpe.LearnCpeDetails" }
func (ClaimCpe) CommandName() string              { return "cpe.ClaimCpe" }
func (AssignCpe) CommandName() string             { return "cpe.AssignCpe" }
func (AssignSubscriberToCpe) CommandName() string { return "cpe.AssignSubscriberToCpe" }
func (ReleaseCpe) CommandName() string            { return "cpe.ReleaseCpe" }
func (ClearCpeFault) CommandName() string         { return "cpe.ClearCpeFault" }
func (ProveCpeSignIn) CommandName() string        { return "cpe.ProveCpeSignIn" }
func (EndCpeSignIn) CommandName() string          { return "cpe.EndCpeSignIn" }

func (c IdentifyCpe) Target() Target           { return At(CpeCategory, c.CpeID) }
func (c LearnCpeDetails) Target() Target       { return At(CpeCategory, c.CpeID) }
func (c ClaimCpe) Target() Target              { return At(CpeCategory, c.CpeID) }
func (c AssignCpe) Target() Target             { return At(CpeCategory, c.CpeID) }
func (c AssignSubscriberToCpe) Target() Target { return At(CpeCategory, c.CpeID) }
func (c ReleaseCpe) Target() Target            { return At(CpeCategory, c.CpeID) }
func (c ClearCpeFault) Target() Target         { return At(CpeCategory, c.CpeID) }
func (c ProveCpeSignIn) Target() Target        { return At(CpeCategory, c.CpeID) }
func (c EndCpeSignIn) Target() Target          { return At(CpeCategory, c.CpeID) }

func (IdentifyCpe) cpeCommand()           {}
func (LearnCpeDetails) cpeCommand()       {}
func (ClaimCpe) cpeCommand()              {}
func (AssignCpe) cpeCommand()             {}
func (AssignSubscriberToCpe) cpeCommand() {}
func (ReleaseCpe) cpeCommand()            {}
func (ClearCpeFault) cpeCommand()         {}
func (ProveCpeSignIn) cpeCommand()        {}
func (EndCpeSignIn) cpeCommand()          {}

// Validate requires an identity in normal form, and the id that follows from it.
func (c IdentifyCpe) Validate() error {
	var f failure.Faults
	cpeText(&f, "serialNumber", c.Identity.SerialNumber, 1, maxCpeSerial)
	cpeText(&f, "oui", c.Identity.OUI, 1, maxCpeOUI)
	cpeText(&f, "productClass", c.Identity.ProductClass, 0, maxCpeClass)
	normal := NormalCpeIdentity(c.Identity)
	f.Check(c.Identity == normal && c.CpeID == CpeID(normal), "cpeId", "must be an id")
	return f.Err()
}

// Validate checks form.
func (c LearnCpeDetails) Validate() error {
	var f failure.Faults
	cpeText(&f, "manufacturer", c.Details.Manufacturer, 0, maxCpeDetail)
	cpeText(&f, "model", c.Details.Model, 0, maxCpeDetail)
	cpeText(&f, "firmwareVersion", c.Details.FirmwareVersion, 0, maxCpeDetail)
	return f.Err()
}

// Validate checks form.
func (c ClaimCpe) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	cpeText(&f, "label", c.Label.Reveal(), 0, maxCpeLabel)
	cpeText(&f, "location", c.Location.Reveal(), 0, maxCpeAddress)
	return f.Err()
}

// Validate checks form.
func (c AssignCpe) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	return f.Err()
}

// Validate checks form.
func (c AssignSubscriberToCpe) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	return f.Err()
}

// Validate has nothing to check: the id names the stream.
func (ReleaseCpe) Validate() error { return nil }

// Validate checks form.
func (c ClearCpeFault) Validate() error {
	var f failure.Faults
	cpeText(&f, "channel", c.Channel, 1, maxCpeChannel)
	cpeText(&f, "code", c.Code, 0, maxCpeChannel)
	return f.Err()
}

// Validate has nothing to check: another number proves nothing.
func (ProveCpeSignIn) Validate() error { return nil }

// Validate has nothing to check: the id names the stream.
func (EndCpeSignIn) Validate() error { return nil }

// cpeText checks a line of ordinary characters; least 0 means that it may be empty.
func cpeText(f *failure.Faults, field, text string, least, most int) {
	n := utf8.RuneCountInString(text)
	f.Check(least == 0 || n > 0, field, "is required")
	f.Check(n <= most, field, "must be at most %d characters", most)
	checkLine(f, field, text)
}

// ErrNoCpe is the failure for an unknown CPE, and for that of another organization.
func ErrNoCpe() error { return failure.NewNotFound("cpe_not_found", "There is no such device.") }

// ErrNoCpeFault is the failure for an unknown fault, and for that of another organization.
func ErrNoCpeFault() error {
	return failure.NewNotFound("cpe_fault_not_found", "There is no such fault.")
}

// ErrCpeClaimed is the failure of a claim of a CPE that somebody has.
func ErrCpeClaimed() error {
	return failure.NewConflict("already_claimed",
		"This device is claimed already. Whoever has it must release it first.")
}
