package commands

import "github.com/lastmile-isp/lastmile/internal/id"

// SubmitPrompt sends the prompt of an attempt to the provider, once.
type SubmitPrompt struct {
	PaymentID id.Payment `json:"paymentId"`
	Position  uint64     `json:"position"` // of the attempt's first event: read models must have it
}

// QueryPrompt asks the provider what became of a prompt.
type QueryPrompt struct {
	PaymentID id.Payment `json:"paymentId"`
	Position  uint64     `json:"position"` // of the latest event about the prompt; 0 = as it stands
}

// FindPayer looks for the owner of a receipt's money.
type FindPayer struct {
	ReceiptID id.Receipt `json:"receiptId"`
	Position  uint64     `json:"position"` // of the sighting: the read models must have it
}

// RegisterShortcode gets a token and registers the C2B addresses of an organization's own shortcode.
type RegisterShortcode struct {
	OrgID          id.Organization `json:"orgId"`
	CredentialsRef id.Secret       `json:"credentialsRef"`
	Position       uint64          `json:"position"` // of the settings
}

// RegisterPlatform registers the C2B addresses of the platform's own shortcode. Periodic; the first run is at start.
type RegisterPlatform struct{}

// Kind is the durable name.
func (SubmitPrompt) Kind() string { return "payments_submit_prompt" }

// Kind is the durable name.
func (QueryPrompt) Kind() string { return "payments_query_prompt" }

// Kind is the durable name.
func (FindPayer) Kind() string { return "payments_find_payer" }

// Kind is the durable name.
func (RegisterShortcode) Kind() string { return "payments_register_shortcode" }

// Kind is the durable name.
func (RegisterPlatform) Kind() string { return "payments_register_platform" }
