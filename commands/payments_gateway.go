package commands

import (
	"log/slog"
	"regexp"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// GatewayCategory is the category of the streams of payment gateway settings; their id is the organization's.
const GatewayCategory = "gateway"

// Environments of the provider.
const (
	EnvironmentSandbox    = "sandbox"
	EnvironmentProduction = "production"
)

// GatewayCredentials is what a CredentialsRef refers to in the vault, as JSON, with purpose GatewayCredentialsPurpose.
type GatewayCredentials struct {
	ConsumerKey    string `json:"consumerKey"`
	ConsumerSecret string `json:"consumerSecret"`
	Passkey        string `json:"passkey"`
}

// GatewayCredentialsPurpose is the vault's purpose of GatewayCredentials.
const GatewayCredentialsPurpose = "payment_credentials"

// String hides the secrets.
func (GatewayCredentials) String() string { return "payment credentials" }

// GoString hides the secrets.
func (GatewayCredentials) GoString() string { return "payment credentials" }

// LogValue hides the secrets.
func (GatewayCredentials) LogValue() slog.Value { return slog.StringValue("payment credentials") }

// GatewayCommand is a command to an organization's payment gateway settings.
//
//sumtype:decl
type GatewayCommand interface {
	Command
	gatewayCommand()
}

// ConfigureGateway adopts settings whole. Secrets are in the vault already. Fails: shortcode_taken.
type ConfigureGateway struct {
	OrgID                 id.Organization
	Direct                bool
	Environment           string
	Shortcode             string // "" when centralized
	CredentialsRef        id.Secret
	RejectUnknownAccounts bool
}

// RegisterGateway reports that token and URL registration of this shortcode succeeded with these credentials. Fails:
// gateway_not_found.
type RegisterGateway struct {
	OrgID          id.Organization
	Environment    string
	Shortcode      string
	CredentialsRef id.Secret
}

// FailGatewayRegistration reports why they did not, in the provider's words. Fails: gateway_not_found.
type FailGatewayRegistration struct {
	OrgID          id.Organization
	Environment    string
	Shortcode      string
	CredentialsRef id.Secret
	Error          string
}

// shortcodeShape is a paybill or till number.
var shortcodeShape = regexp.MustCompile(`^[0-9]{5,7}$`)

// CommandName is the stable name.
func (ConfigureGateway) CommandName() string { return "payments.ConfigureGateway" }

// CommandName is the stable name.
func (RegisterGateway) CommandName() string { return "payments.RegisterGateway" }

// CommandName is the stable name.
func (FailGatewayRegistration) CommandName() string { return "payments.FailGatewayRegistration" }

// Target is the organization's settings.
func (c ConfigureGateway) Target() Target { return At(GatewayCategory, c.OrgID) }

// Target is the organization's settings.
func (c RegisterGateway) Target() Target { return At(GatewayCategory, c.OrgID) }

// Target is the organization's settings.
func (c FailGatewayRegistration) Target() Target { return At(GatewayCategory, c.OrgID) }

// Validate checks form: direct mode needs a shortcode and credentials, centralized mode has none.
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
	}
	return f.Err()
}

// Validate checks form.
func (c RegisterGateway) Validate() error { return gatewayOf(c.OrgID) }

// Validate checks form.
func (c FailGatewayRegistration) Validate() error { return gatewayOf(c.OrgID) }

// gatewayOf checks that an organization is named.
func gatewayOf(o id.Organization) error {
	var f failure.Faults
	f.Check(!o.IsZero(), "orgId", "is required")
	return f.Err()
}

func (ConfigureGateway) gatewayCommand()        {}
func (RegisterGateway) gatewayCommand()         {}
func (FailGatewayRegistration) gatewayCommand() {}

// ErrNoGateway is the answer for a gateway that does not exist, and for another organization's.
func ErrNoGateway() error {
	return failure.NewNotFound("gateway_not_found", "No payment gateway is configured.")
}
