// Package mcp serves a memory to agents over the Model Context Protocol: a knowledge graph
// with the tools of the reference memory server, notes that are found by what they say, and
// their past, kept in one file by package cow/bolt.
//
//	s, err := mcp.Open("memory.cow", mcp.Options{})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	return s.ServeStdio(ctx)
//
// Command cowmemory does that. The README says what the tools do, what is kept where, and what the
// limits are.
//
// # Once and whole
//
// Each call of a tool is one update: it happens whole or not at all, and is on disk when its
// result is sent. Calls of any number of clients at once lose nothing of one another. After an
// error, which is a result too, nothing has changed.
package mcp
