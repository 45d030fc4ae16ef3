package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// GatewayEvent is an event of "gateway-<organization id>": how an organization takes mobile money.
//
//sumtype:decl
type GatewayEvent interface {
	Event
	gatewayEvent()
}

// GatewayConfigured records all settings that apply from now on. A direct shortcode is inactive until
// GatewayRegistered.
type GatewayConfigured struct {
	OrgID                 id.Organization `json:"orgId"`
	Direct                bool            `json:"direct"` // false = centralized: the platform's shared paybill
	Environment           string          `json:"environment"`
	Shortcode             string          `json:"shortcode"`      // "" when centralized
	CredentialsRef        id.Secret       `json:"credentialsRef"` // consumer key, secret and passkey, in the vault
	RejectUnknownAccounts bool            `json:"rejectUnknownAccounts"`
	NominatedRef          id.Secret       `json:"nominatedRef,omitzero"` // a phone, in the vault; zero = none
	At                    time.Time       `json:"at"`
}

// GatewayRegistered records that the provider gave a token and registered the addresses with these credentials: the
// shortcode is active.
type GatewayRegistered struct {
	OrgID          id.Organization `json:"orgId"`
	Shortcode      string          `json:"shortcode"`
	CredentialsRef id.Secret       `json:"credentialsRef"`
	At             time.Time       `json:"at"`
}

// GatewayRegistrationFailed records why the shortcode is not active, with the provider's error text. Without Lasting
// the registration is tried again by itself; so were all failures before v2.
type GatewayRegistrationFailed struct {
	OrgID          id.Organization `json:"orgId"`
	Shortcode      string          `json:"shortcode"`
	CredentialsRef id.Secret       `json:"credentialsRef"`
	Error          string          `json:"error"`
	Code           string          `json:"code,omitempty"` // docs/errors.md; "" = no failure of ours, or not recorded
	Lasting        bool            `json:"lasting"`        // tried again only when the settings are saved again
	At             time.Time       `json:"at"`
}

func (GatewayConfigured) EventType() string         { return "payments.GatewayConfigured.v1" }
func (GatewayRegistered) EventType() string         { return "payments.GatewayRegistered.v1" }
func (GatewayRegistrationFailed) EventType() string { return "payments.GatewayRegistrationFailed.v2" }
func (GatewayConfigured) gatewayEvent()             {}
func (GatewayRegistered) gatewayEvent()             {}
func (GatewayRegistrationFailed) gatewayEvent()     {}
