package commands

import (
	"log/slog"
	"regexp"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// GatewayCategory begins the names of the streams of payment gateway settings; the id is the organization's.
const GatewayCategory = "gateway"

// Environments of the provider. Only production moves real money.
const (
	EnvironmentSandbox    = "sandbox"
	EnvironmentProduction = "production"
)

// GatewayCredentials is the JSON that the vault has under a CredentialsRef, with the purpose GatewayCredentialsPurpose.
type GatewayCredentials struct {
	ConsumerKey    string `json:"consumerKey"`
	ConsumerSecret string `json:"consumerSecret"`
	Passkey        string `json:"passkey"`
	// Initiator and SecurityCredential ask for status and reversals; both are "" when there is no initiator.
	Initiator          string `json:"initiator,omitempty"`
	SecurityCredential string `json:"securityCredential,omitempty"`
}

// GatewayCredentialsPurpose is the purpose under which the vault seals GatewayCredentials.
const GatewayCredentialsPurpose = "payment_credentials"

// String hides the secrets from every format verb.
func (GatewayCredentials) String() string { return "payment credentials" }

// GoString hides the secrets from %#v.
func (GatewayCredentials) GoString() string { return "payment credentials" }

// LogValue hides the secrets from the log.
func (GatewayCredentials) LogValue() slog.Value { return slog.StringValue("payment credentials") }

// GatewayCommand is a command to the payment gateway settings of an organization.
//
//sumtype:decl
type GatewayCommand interface {
	Command
	gatewayCommand()
}

// ConfigureGateway replaces all settings. The vault has the secrets already.
type ConfigureGateway struct {
	OrgID                 id.Organization
	Direct                bool
	Environment           string
	Shortcode             string // "" when centralized
	CredentialsRef        id.Secret
	RejectUnknownAccounts bool
	// NominatedRef is of the phone that answers for the shortcode when payments are asked for; zero = none.
	NominatedRef id.Secret
}

// RegisterGateway reports that the provider gave a token and registered the addresses for this shortcode with these
// credentials, which claims the shortcode. Fails: gateway_not_found, shortcode_taken.
type RegisterGateway struct {
	OrgID          id.Organization
	Environment    string
	Shortcode      string
	CredentialsRef id.Secret
}

// FailGatewayRegistration reports why the registration failed, with the provider's error text. Fails:
// gateway_not_found.
type FailGatewayRegistration struct {
	OrgID          id.Organization
	Environment    string
	Shortcode      string
	CredentialsRef id.Secret
	Error          string
	Code           string // of docs/errors.md; "" = none
	Lasting        bool   // another try helps only after a person has changed something
}

// RetryGatewayRegistration registers an organization's own shortcode now, with the settings as they are: after a
// failure, or while the shortcode is active, because its addresses were deleted at the provider. A registration that
// is under way stays the only one. Fails: gateway_not_found, registration_not_needed.
type RetryGatewayRegistration struct {
	OrgID id.Organization
}

// NominatedNumberPurpose is the purpose under which the vault seals a nominated number, in E.164.
const NominatedNumberPurpose = "nominated_number"

// nominatedShape is a phone of the provider's country in E.164.
var nominatedShape = regexp.MustCompile(`^\+254[0-9]{9}$`)

// NominatedNumber gives a phone of the provider's in E.164, as people type it; false for any other text.
func NominatedNumber(text string) (string, bool) {
	number := NormalizeContactPhone(text)
	return number, nominatedShape.MatchString(number)
}

// shortcodeShape is a paybill or till number: 5 to 7 digits.
var shortcodeShape = regexp.MustCompile(`^[0-9]{5,7}$`)

func (ConfigureGateway) CommandName() string         { return "payments.ConfigureGateway" }
func (RegisterGateway) CommandName() string          { return "payments.RegisterGateway" }
func (FailGatewayRegistration) CommandName() string  { return "payments.FailGatewayRegistration" }
func (RetryGatewayRegistration) CommandName() string { return "payments.RetryGatewayRegistration" }

func (c ConfigureGateway) Target() Target         { return At(GatewayCategory, c.OrgID) }
func (c RegisterGateway) Target() Target          { return At(GatewayCategory, c.OrgID) }
func (c FailGatewayRegistration) Target() Target  { return At(GatewayCategory, c.OrgID) }
func (c RetryGatewayRegistration) Target() Target { return At(GatewayCategory, c.OrgID) }

// Validate checks form: direct mode needs a shortcode and credentials, centralized mode must have neither.
func (c ConfigureGateway) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(c.Environment == EnvironmentSandbox || c.Environment == EnvironmentProduction, "environment",
		"must be sandbox or production")
	if c.Direct {
		f.Check(shortcodeShape.MatchString(c.Shortcode), "shortcode", "must be 5 to 7 digits")
		f.Check(!c.CredentialsRef.IsZero(), "consumerKey", "is required in direct mode")
	} else {
		f.Check(c.Shortcode == "" && c.CredentialsRef.IsZero(), "shortcode", "belongs to direct mode")
		f.Check(c.NominatedRef.IsZero(), "nominatedNumber", "belongs to direct mode")
	}
	return f.Err()
}

func (c RegisterGateway) Validate() error          { return gatewayOf(c.OrgID) }
func (c FailGatewayRegistration) Validate() error  { return gatewayOf(c.OrgID) }
func (c RetryGatewayRegistration) Validate() error { return gatewayOf(c.OrgID) }

// gatewayOf requires the id of an organization.
func gatewayOf(o id.Organization) error {
	var f failure.Faults
	f.Check(!o.IsZero(), "orgId", "is required")
	return f.Err()
}

func (ConfigureGateway) gatewayCommand()         {}
func (RegisterGateway) gatewayCommand()          {}
func (FailGatewayRegistration) gatewayCommand()  {}
func (RetryGatewayRegistration) gatewayCommand() {}

// ErrNoGateway is the failure for an organization that never configured a gateway.
func ErrNoGateway() error {
	return failure.NewNotFound("gateway_not_found", "No payment gateway is configured. Configure one first.")
}

// ErrNoRegistration is the failure for an organization on the platform's shortcode, which the platform registers.
func ErrNoRegistration() error {
	return failure.NewConflict("registration_not_needed",
		"Money is taken on the platform's shortcode, which needs no registration of yours.")
}

// ErrGatewayMissing is the answer when neither the organization nor the platform can take mobile money in the asked
// environment.
func ErrGatewayMissing() error {
	return failure.NewUnavailable("payment_gateway_missing", "No payment gateway is set up for this payment.", 0, nil)
}

// ErrGatewayInactive is the answer when an organization takes money on its own shortcode only, and the provider has not
// accepted that yet. Its customers must not be asked to pay on another shortcode.
func ErrGatewayInactive() error {
	return failure.NewUnavailable("payment_gateway_inactive",
		"The organization's own shortcode is not active yet. Please try again later.", 0, nil)
}
