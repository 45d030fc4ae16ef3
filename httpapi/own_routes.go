package httpapi

import (
	"context"
	"net/http"
)

// indexResponse says what answers here, until web pages do.
type indexResponse struct {
	Service      string `json:"service"`
	Organization string `json:"organization,omitempty"`
	OpenAPI      string `json:"openapi"`
	Health       string `json:"health"`
}

// ownRoutes are those that need nothing but the server itself.
func (s *Server) ownRoutes() []Route {
	return []Route{
		{
			Method: http.MethodGet, Path: "/", Hosts: OnBoth, Access: AccessPublic, Summary: "What this is",
			Response: indexResponse{}, Handle: s.index,
		},
		{
			Method: http.MethodGet, Path: "/openapi.json", Hosts: OnEvery, Access: AccessPublic,
			Summary: "This document", Produces: "application/json", Handle: s.sendOpenAPI,
		},
	}
}

// index names the service and where to read on.
func (s *Server) index(_ context.Context, c *Call) error {
	return c.Send(http.StatusOK, indexResponse{
		Service: "Lastmile", Organization: c.Org.Name, OpenAPI: "/openapi.json", Health: "/healthz",
	})
}

// sendOpenAPI answers with the document of this kind of host.
func (s *Server) sendOpenAPI(_ context.Context, c *Call) error {
	c.SendBytes(http.StatusOK, contentJSON, s.openAPI[c.hostKind])
	return nil
}
