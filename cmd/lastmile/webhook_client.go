package main

import (
	"github.com/lastmile-isp/lastmile/gateways/webhooks"
	"github.com/lastmile-isp/lastmile/internal/egress"
)

// webhookGateway makes the client that calls the endpoints of organizations' own systems. In production it reaches
// public addresses alone (docs/rules/webhooks.md#addresses).
func (a *App) webhookGateway() *webhooks.Client {
	return webhooks.New(webhooks.Config{
		Addresses: egress.Guard{Development: !a.cfg.Production(), Domain: a.cfg.ServiceDomain}, Logger: a.logger,
	})
}
