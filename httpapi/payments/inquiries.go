package paymentsapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// Inquiries serves POST /receipt-inquiries.
type Inquiries struct{ Cases paymentscases.Inquiries }

// Routes lists the endpoint, on both kinds of hosts.
func (a Inquiries) Routes() []httpapi.Route {
	of := func(on httpapi.Hosts, access httpapi.Access) httpapi.Route {
		return httpapi.Route{
			Method: "POST", Path: "/receipt-inquiries", Hosts: on, Access: access, Status: 202,
			Summary: "Ask the provider about a receipt number that somebody names", Request: inquiryRequest{},
			Response: inquiryResponse{}, Handle: a.request,
		}
	}
	return []httpapi.Route{
		of(httpapi.OnOrganization, httpapi.AccessAdmin), of(httpapi.OnRoot, httpapi.AccessSuperAdmin),
	}
}

// inquiryRequest is the body of POST /receipt-inquiries.
type inquiryRequest struct {
	ReceiptNumber string `json:"receiptNumber" doc:"as the provider told the payer"`
}

// inquiryResponse says what became of the question.
type inquiryResponse struct {
	ReceiptID id.Receipt `json:"receiptId" doc:"under which the money is found once the provider has told of it"`
	State     string     `json:"state" enum:"asked,known" doc:"known: it is here already, and nothing was asked"`
}

// request asks the provider. Its answer comes later, as a receipt or not at all.
func (a Inquiries) request(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[inquiryRequest](c)
	if err != nil {
		return err
	}
	asked, err := a.Cases.Request(ctx, c.Asked(), in.ReceiptNumber)
	if err != nil {
		return err
	}
	out := inquiryResponse{ReceiptID: asked.ReceiptID, State: "asked"}
	if asked.Known {
		out.State = "known"
	}
	return c.Send(202, out)
}

// reversible reports whether the provider can be asked to send the money of a receipt back.
func (a Receipts) reversible(ctx context.Context, r paymentsviews.ReceiptRow) (bool, error) {
	if a.MayAsk == nil || r.Channel == commands.ChannelCash || r.ReceiptNumber == "" {
		return false, nil
	}
	return a.MayAsk(ctx, r.OrgID, r.Environment, r.Shortcode)
}
