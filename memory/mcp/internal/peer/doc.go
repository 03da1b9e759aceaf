// Package peer lets several processes use one file: the first that opens it owns it, and
// the others send it their requests over a local socket. When the owner ends, or is
// killed, one of the others takes over.
//
// # What holds
//
// A request that writes has an ID. It is done once: if its answer is lost, because the
// owner ended, it is sent again, with the same ID, to whoever owns the file then, until
// there is an answer or its context ends. What was acknowledged is in the file. A request
// without an ID must be a read, and is just repeated. If the context ends first, the outcome
// of a write is not known, and the same request may be sent again later.
//
// Changes goes on after its last cursor when another process has taken over: no event is
// missed and none is repeated. What the new owner says of the cursor is passed on.
//
// # Why nothing is done twice or lost
//
//  1. Who owns the file holds the operating system's lock on it, and no other process
//     writes it. The lock is given up by closing the file, or by the end of the process:
//     after that nothing of the old owner's can reach the file.
//  2. A write and its receipt, the ID with the result, are one commit of the store. An
//     answer is sent when that commit is on disk.
//  3. A new owner has the lock before it reads the file. So a request that comes to it
//     finds the receipt of each commit that there was, or there was none and never will be.
//  4. Two copies of one request at the same owner, after a connection broke, are the
//     store's: its commits are in a row, and the later copy finds the receipt.
//  5. The socket is named after the file. Only who has the lock makes it or removes it,
//     and who ends removes it before the lock is given up: so nobody removes the socket
//     of a successor.
//
// An owner that closes takes no more requests, answers those that are under way for as
// long as Options.Drain, ends the feeds, removes the socket, and closes the store. Only then do the others learn
// that it has ended: they find the file free.
//
// # What does not
//
// A process that is stopped (SIGSTOP, a debugger, a machine that sleeps) keeps its lock and
// cannot be replaced: requests of the others wait for it until their contexts end, with an
// error that names the process. Requests go on when it does, or when it is killed.
//
// A store whose disk has failed is not given up: its error goes to the caller, and is not
// tried again. Close the Peer.
//
// Processes find each other if they open the file by paths that lead to the same place, as
// one user, and, where the socket is in the folder for temporary files, with the same TMPDIR.
// A hard link is another path. A process that finds the file locked and no socket waits until
// its context ends.
//
// # Who may connect
//
// The socket is beside the file, its name with .sock, where the folder is the user's own and
// nobody else can write to it; else, or if that path is too long for a socket, in a folder of
// mode 0700 below os.TempDir. Its mode is 0600 from the moment at which it has its name. A
// socket of another user is refused. So both ends are processes of one user, who can read and
// write the file in any case: there is nothing that credentials would add. Windows has neither
// modes nor owners of this kind: there, what protects the socket is the folder of the file.
//
// One that behaves badly does not stop the owner: requests are limited in size, and in the
// time that they take to arrive; answers and events in the time that they take to be read;
// and connections in their number.
package peer
