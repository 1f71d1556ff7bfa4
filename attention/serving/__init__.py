"""What is between the network and Streamlit: access, headers, files, uploads and the life of sessions.

    settings          what the owner of a host sets, by environment variables
    asgi              reading requests, and plain answers
    headers           security headers of every answer
    visitors          which hosts, origins and paths are allowed
    uploads           who may send files, and how much of them
    health            whether this server works, for an owner's probe
    moved_links       sends links on whose page has moved
    previews          what programs see of a link: the head of the HTML, a picture, oEmbed
    files             files of the browser's part, compressed once and kept
    startup           holds connections until everything that scripts need is imported
    reconnecting      requests of browsers that come back after a restart, or to another replica
    messages          which messages and widget values a browser may send
    session_cleanup   forgets the sessions of visitors who have left, after a while
    leaving           ends the work of a visitor whose browser has gone
    error_page        what a visitor sees if a page fails
    launch            starts the app as a process, for `attention.show` and the command `attention-lab`
    stack             all of these, in the order in which a request passes them

Each is an ASGI class that takes the next one. A server imports this before it answers anything, so nothing here imports
PyTorch or the rest of the package, which takes seconds, until the server runs (`startup`).
"""
