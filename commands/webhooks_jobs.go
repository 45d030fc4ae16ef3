package commands

import "github.com/lastmile-isp/lastmile/internal/id"

// DropWebhookSecrets deletes secrets of an endpoint that no delivery is signed with any more.
type DropWebhookSecrets struct {
	WebhookID id.Webhook  `json:"webhookId"`
	Refs      []id.Secret `json:"refs"`
}

func (DropWebhookSecrets) Kind() string { return "webhooks_drop_secrets" }
