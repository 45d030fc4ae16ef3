package commands

import "github.com/lastmile-isp/lastmile/internal/id"

// SignDocument hands a document over to the tax gateway, or asks what became of it, until it is signed or refused.
type SignDocument struct {
	OrgID       id.Organization `json:"orgId"`
	SignatureID id.Signature    `json:"signatureId"`
	Round       int             `json:"round"`    // number of retries before it
	Position    uint64          `json:"position"` // of the event; read models must have reached it
}

func (SignDocument) Kind() string { return "billing_sign" }
