package id

// The kinds of the two identifiers of API keys.
type (
	apiKey       struct{}
	apiKeySecret struct{}
)

// The identifiers of API keys. A key keeps its id when its secret is replaced.
type (
	APIKey       = Of[apiKey]
	APIKeySecret = Of[apiKeySecret] // of one secret of a key; it stands in the text of the key
)
