// Package embed asks an embeddings endpoint in OpenAI's form for the vectors of texts.
//
// A Client sends POST {URL}/embeddings with {"model", "input": […], "encoding_format":
// "float"} and reads data[].index and data[].embedding. Texts go in batches, bounded in
// number and bytes, one after the other. A batch that failed for now, by the network, a
// status of 429, 408 or 5xx, is sent again after pauses that grow, or that Retry-After asks
// for, so many times; any other failure is returned at once.
//
// An answer is used whole or not at all: each text must have one vector, all vectors must
// be of one dimension, of finite numbers that fit float32, and not zero.
//
// The key is sent to the host of the URL alone: redirects are not followed, and http is
// refused but for this machine, unless it is allowed. The key is in no error, even where the
// endpoint says it; other words of the endpoint's may be. Nothing is logged.
package embed
